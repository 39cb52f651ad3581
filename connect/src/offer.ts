import { bounds, type FromGateway } from '@tollgate/server/tunnel/frames'
import type { ModelServer } from './model-server'
import type { Toolbox } from './tools/toolbox'

/** The content of a hello. */
export type Announcement = Pick<FromGateway & { type: 'hello' }, 'providers' | 'models' | 'tools'>

/** Bytes of a hello reserved for all that is not a model or a tool, and for tools. */
const maxToolsBytes = 400 * 1024
const maxModelsBytes = 500 * 1024

/** Returns as many items of a list as fit. */
function takeFitting<Item>(items: readonly Item[], max: { items: number; bytes: number }): Item[] {
  let remaining = max.bytes
  const fitting: Item[] = []
  for (const item of items) {
    remaining -= Buffer.byteLength(JSON.stringify(item)) + 1
    if (remaining < 0 || fitting.length === max.items) break
    fitting.push(item)
  }
  return fitting
}

/** The models and tools that this machine offers at this moment. */
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

  /** Replaces the servers. */
  replace(servers: readonly ModelServer[]): void {
    this.#servers = servers
  }

  /** Returns the server of a model; undefined for one that was not announced. */
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
      models: takeFitting([...pairs.values()], { items: bounds.models, bytes: maxModelsBytes }),
      tools: takeFitting(this.#toolbox?.tools ?? [], { items: bounds.tools, bytes: maxToolsBytes }),
    }
  }
}
