import type { ProviderConnection } from '../catalog/snapshot'
import type { ModelListing } from '../providers/model-listing'
import type { Provider } from '../providers/provider'

interface ProviderListsOptions {
  /** Reads the list of a connection. A failure is a result, and comes within its own deadline. */
  list: (provider: Provider, connection: ProviderConnection) => Promise<ModelListing>
  /** Monotonic milliseconds. */
  now?: () => number
}

interface KnownList {
  names: Promise<ReadonlySet<string>>
  untilMs: number
}

/** A new model is known after this time at the latest. */
const keepMs = 600_000
/** A list that failed is read again after this time at the earliest, however many requests want it. */
const retryMs = 60_000
/** Connections of one provider whose lists are read. */
const maxConnections = 5

const noNames: ReadonlySet<string> = new Set()

/**
 * The models that providers list themselves, by connection of the platform. Lists are read on demand, for names that
 * the catalogue does not have, and each at most once in ten minutes.
 */
export class ProviderLists {
  readonly #list: ProviderListsOptions['list']
  readonly #now: () => number
  /** A connection that is changed is another object. */
  readonly #listsByConnection = new WeakMap<ProviderConnection, KnownList>()

  constructor({ list, now = () => performance.now() }: ProviderListsOptions) {
    this.#list = list
    this.#now = now
  }

  /** Returns the connections whose provider lists a model, in their order. Never rejects. */
  async findServing(
    { provider, connections }: { provider: Provider; connections: readonly ProviderConnection[] },
    name: string,
  ): Promise<ProviderConnection[]> {
    const askedConnections = connections.slice(0, maxConnections)
    const lists = await Promise.all(
      askedConnections.map((connection) => this.#namesOf(provider, connection)),
    )
    return askedConnections.filter((_connection, at) => lists[at]?.has(name))
  }

  #namesOf(provider: Provider, connection: ProviderConnection): Promise<ReadonlySet<string>> {
    const knownList = this.#listsByConnection.get(connection)
    if (knownList && this.#now() < knownList.untilMs) return knownList.names
    const list: KnownList = { names: this.#read(provider, connection), untilMs: Infinity }
    this.#listsByConnection.set(connection, list)
    return list.names.then((names) => {
      list.untilMs = this.#now() + (names === noNames ? retryMs : keepMs)
      return names
    })
  }

  async #read(provider: Provider, connection: ProviderConnection): Promise<ReadonlySet<string>> {
    try {
      const { success, models } = await this.#list(provider, connection)
      return success ? new Set(models) : noNames
    } catch {
      return noNames
    }
  }
}
