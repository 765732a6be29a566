//! Every tool, resource and prompt, called by the SDK's client in this process.

mod answers;
mod crafted;
mod files;
mod handles;
mod hostile;
mod limits;
mod roots;
mod rows;
mod support;
mod units;
mod waiting;
