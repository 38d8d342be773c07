import { render } from "preact";

const root = document.getElementById("workbench");
if (root) render(<p>Stepmark</p>, root);
