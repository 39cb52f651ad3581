import { LRUCache } from 'lru-cache'
import type { TunnelLocation } from './gateway-store'
import { SwrCache } from '../db/swr-cache'

/** Gateways of other nodes that were asked for lately; each takes up to 8 kB. */
const mostGateways = 10_000
/** One that could not be reached where it is said to be is passed over for so long. */
const missedMs = 2000
/** One that was refused there: it may be on its way, or have much to do. */
const refusedMs = 200

/** Where the sockets of gateways are, as far as this node has been asked for them: in memory. */
export class Directory {
  readonly #places: SwrCache<TunnelLocation | undefined>
  readonly #missed = new LRUCache<string, true>({ max: mostGateways, ttl: missedMs })

  constructor(lookUp: (gatewayId: string) => Promise<TunnelLocation | undefined>) {
    this.#places = new SwrCache({
      lookUp,
      capacity: mostGateways,
      isNothing: (place) => place === undefined,
    })
  }

  /** Where a gateway is; undefined where it is offline, cannot be reached, or was not looked up. */
  known(gatewayId: string): TunnelLocation | undefined {
    const place = this.#places.known(gatewayId)?.value
    return place && !this.#missed.has(place.socket) ? place : undefined
  }

  /** Undefined where that is known; else resolves once it has been looked up. Never rejects. */
  look(gatewayId: string): Promise<void> | undefined {
    if (this.#places.known(gatewayId)) return undefined
    const looking = async () => void (await this.#places.of(gatewayId))
    return looking().catch(() => undefined)
  }

  /** Nobody answers where it is said to be. */
  missed({ socket }: TunnelLocation): void {
    this.#missed.set(socket, true)
  }

  /** Its node does not take what is asked of it now; what is known of it may be old. */
  refused({ gateway, socket }: TunnelLocation): void {
    this.#missed.set(socket, true, { ttl: refusedMs })
    this.forget(gateway)
  }

  /** Something of a gateway was changed. */
  forget(gatewayId: string): void {
    this.#places.forget(gatewayId)
  }

  /** Notifications may have been missed. */
  distrust(): void {
    this.#places.distrust()
  }
}
