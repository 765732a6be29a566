// The page without a server: a worker answers its requests, and files come from a dialog or are embedded.

import "./start";
import { say } from "../header";
import { open } from "../main";
import { byId, element } from "../widgets/dom";
import { embedded } from "./engine";

const input = element("input", { type: "file", multiple: "", hidden: "", "aria-label": "Open a trace" });
const button = element("button", { id: "open", title: "Open a trace from this computer" }, "Open");
button.addEventListener("click", () => input.click());
input.addEventListener("change", () => open(input.files ?? []));
byId("commands").before(button, input);

void embedded().then(({ files, notice }) => {
  open(files);
  if (notice) say(notice, "cut");
});
