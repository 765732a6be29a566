//! Every tool, resource and prompt, asked by the SDK's own client in this process.

mod answers;
mod files;
mod hostile;
mod roots;
mod rows;
mod support;
mod units;
mod waiting;
