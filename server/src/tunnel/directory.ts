import { LRUCache } from 'lru-cache'
import type { TunnelLocation } from './gateway-store'
import { systemClock, type Clock } from '../platform/clock'
import { SwrCache } from '../platform/swr-cache'
import { limitEntries } from '../platform/cache-limit'

/** The maximum number of cached locations of gateways on other nodes; each takes up to 8 kB. */
const maxGateways = 10_000
/** The time for which a location that could not be reached is skipped. */
const missedMs = 2000
/** The time for which a location that refused a call is skipped: its gateway may be moving, or be busy. */
const refusedMs = 200

/** Caches in memory the nodes that have the sockets of gateways, as far as this node looked them up. */
export class Directory {
  readonly #locations: SwrCache<TunnelLocation | undefined>
  readonly #missed: LRUCache<string, true>

  constructor(
    lookUp: (gatewayId: string) => Promise<TunnelLocation | undefined>,
    { monotonicMs: now }: Clock = systemClock,
  ) {
    this.#missed = new LRUCache({ ...limitEntries(maxGateways), ttl: missedMs, perf: { now } })
    this.#locations = new SwrCache({
      lookUp,
      capacity: maxGateways,
      isMissing: (place) => place === undefined,
      now,
    })
  }

  /** Returns the location of a gateway; undefined where it is offline, cannot be reached, or was not looked up. */
  cached(gatewayId: string): TunnelLocation | undefined {
    const place = this.#locations.findKnown(gatewayId)?.value
    return place && !this.#missed.has(place.socket) ? place : undefined
  }

  /** Looks a gateway up: undefined where it is cached; else resolves after the lookup. Never rejects. */
  lookUp(gatewayId: string): Promise<void> | undefined {
    if (this.#locations.findKnown(gatewayId)) return undefined
    const looking = async () => void (await this.#locations.of(gatewayId))
    return looking().catch(() => undefined)
  }

  /** Records that no node answers at this location. */
  markUnreachable({ socket }: TunnelLocation): void {
    this.#missed.set(socket, true)
  }

  /** Records that the node refuses calls for this gateway now; the cached location may be stale. */
  markRefused({ gateway, socket }: TunnelLocation): void {
    this.#missed.set(socket, true, { ttl: refusedMs })
    this.invalidate(gateway)
  }

  /** Evicts a gateway that was changed. */
  invalidate(gatewayId: string): void {
    this.#locations.invalidate(gatewayId)
  }

  /** Invalidates all entries, as notifications may have been missed. */
  invalidateAll(): void {
    this.#locations.invalidateAll()
  }
}
