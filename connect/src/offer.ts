import { bounds, type FromGateway } from '../../server/src/tunnel/frames'
import type { ModelServer } from './model-server'
import type { Toolbox } from './tools/toolbox'

/** What a hello tells of. */
export type Announcement = Pick<FromGateway & { type: 'hello' }, 'providers' | 'models' | 'tools'>

/** Room in a hello for what is not a model or a tool, and for tools. */
const mostToolsBytes = 400 * 1024
const mostModelsBytes = 500 * 1024

/** As many of a list as there is room for. */
function within<Item>(items: readonly Item[], most: { items: number; bytes: number }): Item[] {
  let left = most.bytes
  const kept: Item[] = []
  for (const item of items) {
    left -= Buffer.byteLength(JSON.stringify(item)) + 1
    if (left < 0 || kept.length === most.items) break
    kept.push(item)
  }
  return kept
}

/** What the servers and tools of this machine offer at this moment. */
export class Offer {
  #servers: readonly ModelServer[]
  readonly #toolbox: Toolbox | undefined

  constructor(servers: readonly ModelServer[], toolbox?: Toolbox) {
    this.#servers = servers
    this.#toolbox = toolbox
  }

  get servers(): readonly ModelServer[] {
    return this.#servers
  }

  get toolbox(): Toolbox | undefined {
    return this.#toolbox
  }

  /** Other servers in the place of those before. */
  replace(servers: readonly ModelServer[]): void {
    this.#servers = servers
  }

  /** Who serves a model; undefined for one that was not announced. */
  serverOf(provider: string, model: string): ModelServer | undefined {
    return this.#servers.find((one) => one.provider === provider && one.serves(model))
  }

  announcement(): Announcement {
    const pairs = new Map<string, Announcement['models'][number]>()
    for (const { provider, models } of this.#servers) {
      for (const name of models) pairs.set(`${provider}/${name}`, { provider, name })
    }
    const providers = [...new Set(this.#servers.map(({ provider }) => provider))]
    return {
      providers: providers.slice(0, bounds.providers),
      models: within([...pairs.values()], { items: bounds.models, bytes: mostModelsBytes }),
      tools: within(this.#toolbox?.tools ?? [], { items: bounds.tools, bytes: mostToolsBytes }),
    }
  }
}
