import { render, type ComponentChild } from "preact";

/** The part of a document that Preact uses: elements with their attributes, and text. */
class Node {
  parentNode: Node | null = null;
  readonly childNodes: Node[] = [];
  readonly attributes = new Map<string, string>();
  readonly style = {};

  constructor(
    readonly nodeType: 1 | 3,
    readonly localName: string,
    public data = "",
  ) {}

  get firstChild(): Node | null {
    return this.childNodes[0] ?? null;
  }

  get nextSibling(): Node | null {
    const beside = this.parentNode?.childNodes ?? [];
    return beside[beside.indexOf(this) + 1] ?? null;
  }

  get textContent(): string {
    return this.data + this.childNodes.map((child) => child.textContent).join("");
  }

  get all(): Node[] {
    return [this, ...this.childNodes.flatMap((child) => child.all)];
  }

  insertBefore(node: Node, next: Node | null): Node {
    node.parentNode?.removeChild(node);
    this.childNodes.splice(next ? this.childNodes.indexOf(next) : this.childNodes.length, 0, node);
    node.parentNode = this;
    return node;
  }

  removeChild(node: Node): Node {
    this.childNodes.splice(this.childNodes.indexOf(node), 1);
    node.parentNode = null;
    return node;
  }

  setAttribute(name: string, value: unknown): void {
    this.attributes.set(name, String(value));
  }

  removeAttribute(name: string): void {
    this.attributes.delete(name);
  }

  addEventListener(): void {}
}

/** The first render of a component. */
export class Drawn {
  private readonly root = new Node(1, "body");

  constructor(component: ComponentChild) {
    const document = {
      createElementNS: (_space: string, name: string) => new Node(1, name),
      createTextNode: (text: string) => new Node(3, "", text),
    };
    Object.assign(this.root, { ownerDocument: document });
    const before = Reflect.get(globalThis, "document") as unknown;
    Reflect.set(globalThis, "document", document);
    render(component, this.root as never);
    Reflect.set(globalThis, "document", before);
  }

  get text(): string {
    return this.root.textContent;
  }

  /** The elements of a class, each with its text and its attributes. */
  ofClass(name: string): { text: string; attributes: Record<string, string> }[] {
    const found = this.root.all.filter((node) => node.attributes.get("class")?.split(" ").includes(name));
    return found.map((node) => ({ text: node.textContent, attributes: Object.fromEntries(node.attributes) }));
  }
}
