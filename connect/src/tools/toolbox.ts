import {
  ToolServer,
  type AnnouncedTool,
  type Callable,
  type ToolServerPorts,
  type ToolServerSettings,
} from './tool-server'

/** The tools of all configured servers. */
export class Toolbox implements AsyncDisposable {
  readonly #servers: readonly ToolServer[]

  constructor(settings: readonly ToolServerSettings[], ports: ToolServerPorts) {
    this.#servers = settings.map((one) => new ToolServer(one, ports))
  }

  get tools(): AnnouncedTool[] {
    return this.#servers.flatMap(({ tools }) => tools.map(({ announced }) => announced))
  }

  /** Finds a tool by its announced name. */
  find(name: string): Callable | undefined {
    return this.#servers
      .flatMap(({ tools }) => tools)
      .find(({ announced }) => announced.name === name)
  }

  /** Resolves when each server has listed its tools, or failed to. */
  async start(changed: () => void): Promise<void> {
    await Promise.all(this.#servers.map((one) => one.start(changed)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#servers.map((one) => one[Symbol.asyncDispose]()))
  }
}
