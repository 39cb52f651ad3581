import { Resolver } from 'node:dns/promises'
import { LRUCache } from 'lru-cache'
import { systemClock, type Clock } from '../../platform/clock'
import { limitEntries } from '../../platform/cache-limit'

/** Looks up the addresses of a name, its A and AAAA records, with one query to a name server. */
export type QueryNameServer = (name: string, deadlineMs: number) => Promise<string[]>

/** The lookup of a name failed: it has no address, or too many, or no server answered in time. */
export class NotResolved extends Error {
  override readonly name = 'NotResolved'
}

const freshForMs = 30_000
const maxNames = 1000
const maxConcurrent = 200
/** The maximum of addresses of a name; more would be an attack, or at least no host of models. */
const maxAddresses = 32

/** The maximum of running lookups of one customer: slow name servers must not delay others. */
const maxOfOne = 8

interface Question {
  name: string
  /** The owner of the connection that needs the address. */
  owner: string
  deadlineMs: number
}

/**
 * Resolves names to addresses, and caches them for a while. Connections use the addresses of this one lookup: no name
 * is looked up a second time. `/etc/hosts` and search domains are not read.
 */
export class Names {
  readonly #query: QueryNameServer
  readonly #cache = new LRUCache<string, Promise<readonly string[]>>({
    ...limitEntries(maxNames),
    ttl: freshForMs,
  })
  /** The owners of running lookups, once for each lookup. */
  readonly #querying: string[] = []

  constructor(ask: QueryNameServer = queryNameServer()) {
    this.#query = ask
  }

  /** Throws `NotResolved`. */
  addressesOf(query: Question): Promise<readonly string[]> {
    const { name } = query
    const knownAddresses = this.#cache.get(name)
    if (knownAddresses) return knownAddresses
    const addresses = this.#lookUp(query)
    this.#cache.set(name, addresses)
    // A failure reaches all callers that wait for it, and is not cached.
    addresses.catch(() => {
      if (this.#cache.peek(name) === addresses) this.#cache.delete(name)
    })
    return addresses
  }

  /** Evicts a name whose addresses did not work. */
  forget(name: string): void {
    this.#cache.delete(name)
  }

  async #lookUp({ name, owner, deadlineMs }: Question): Promise<readonly string[]> {
    const others = this.#querying.filter((asking) => asking === owner).length
    if (this.#querying.length >= maxConcurrent || others >= maxOfOne) {
      throw new NotResolved('too many names are being looked up')
    }
    this.#querying.push(owner)
    try {
      const addresses = await this.#query(name, deadlineMs)
      if (addresses.length === 0) throw new NotResolved('the name has no address')
      if (addresses.length > maxAddresses) throw new NotResolved('the name has too many addresses')
      return addresses
    } finally {
      this.#querying.splice(this.#querying.indexOf(owner), 1)
    }
  }
}

const tries = 2

/** Queries these name servers, or those of the machine. */
export const queryNameServer =
  (servers?: readonly string[], clock: Clock = systemClock): QueryNameServer =>
  async (name, deadlineMs) => {
    // One resolver for each query: it can be cancelled alone, and uses the currently configured servers.
    const resolver = new Resolver({ timeout: Math.ceil(deadlineMs / (tries + 1)), tries })
    if (servers) resolver.setServers(servers)
    using _timer = clock.after(deadlineMs, () => resolver.cancel())
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const addresses = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value : [],
    )
    if (addresses.length > 0) return addresses
    const [{ reason } = { reason: undefined }] = answers.filter(
      (answer) => answer.status === 'rejected',
    )
    throw new NotResolved('no name server knows an address', { cause: reason })
  }
