import { isIP } from 'node:net'
import { isOwn, isPublic, isWithin } from './address'
import { ConnectionFailed } from './connection-failed'
import type { OwnedCall } from './egress'
import type { Names } from './names'
import { assertNoProxy } from './no-proxy'
import type { Answer } from './answer'
import type { Stop } from './stop-signal'
import type { Transport, Way } from './transport'
import { checkCall, checkUserUrl, type CheckedUrl, type UrlRules } from './user-url'

/** A request that may not go where it leads. Whoever sent it learns only that nobody was reached. */
export class AddressRefused extends ConnectionFailed {
  override readonly name = 'AddressRefused'
  /** Why, for whoever wrote the address; set where its text alone says it, and no network was asked. */
  readonly refusal: string | undefined

  constructor(why: string, { isOfText = false } = {}) {
    super(false, new Error(why))
    this.refusal = isOfText ? why : undefined
  }
}

interface Guard {
  /** Read each time. */
  timers: { readonly connectMs: number }
  rules: UrlRules
  names: Names
  transport: Transport
  /** Whether an address may be connected to; tests have no public ones. */
  isOpen?: (address: string) => boolean
  /** Authorities instead of the usual ones, for tests. */
  ca?: string
}

/** The share of the time for connecting that looking a name up may take. */
const lookUpShare = 2 / 3
const mostTried = 2

const isElsewhere = (address: string) => isPublic(address) && !isOwn(address)

/** Addresses that may be connected to, as long as the same private networks are allowed. */
interface Judged {
  open: readonly string[]
  allowed: readonly string[]
}

const noNetworks: readonly string[] = []
const mostLookUpMs = 2000

/**
 * The way out for addresses that users set: https to the public internet. A name is looked up once,
 * every address of it is judged, and the request goes to one of those very addresses: the URL that is
 * fetched has no name in it that could be looked up again. The certificate must name the host.
 * Connections are shared within one owner and host.
 */
export class GuardedEgress {
  readonly #guard: Required<Omit<Guard, 'ca'>> & Pick<Guard, 'ca'>
  /** What was looked up, judged once as long as it is fresh. */
  readonly #judged = new WeakMap<readonly string[], Judged>()

  /** Throws where the environment names a proxy, which would connect in our place. */
  constructor(guard: Guard) {
    assertNoProxy(process.env)
    this.#guard = { isOpen: isElsewhere, ...guard }
  }

  /**
   * Whether a URL that a customer sets may be called, as far as can be told now: a name that nobody
   * knows yet is judged when it is used.
   */
  async check(text: string, owner: string): Promise<CheckedUrl> {
    const checked = checkUserUrl(text, this.#guard.rules)
    if (checked.refusal !== undefined) return checked
    try {
      const { hostname } = new URL(checked.href)
      await this.#addresses(hostname, owner, AbortSignal.timeout(mostLookUpMs))
    } catch (thrown) {
      if (thrown instanceof AddressRefused) {
        return { refusal: 'The host leads to an address that is not one of the public internet.' }
      }
    }
    return checked
  }

  /** Throws `ConnectionFailed`, or the reason of the signal. */
  async send({ owner, ...call }: OwnedCall): Promise<Answer> {
    const { timers, transport } = this.#guard
    const url = this.#checked(call.url)
    const startedAt = performance.now()
    const addresses = await this.#addresses(url.hostname, owner, call.signal)
    const tried = addresses.slice(0, mostTried)
    for (const [position, address] of tried.entries()) {
      const leftMs = Math.max(timers.connectMs - (performance.now() - startedAt), 1)
      try {
        // The next address is to have its time as well.
        const connectMs = leftMs / (tried.length - position)
        const pinned = { ...call, url: pin(url, address) }
        return await transport.send(pinned, { connectMs, ...this.#asFor(url, owner) })
      } catch (thrown) {
        if (!(thrown instanceof ConnectionFailed) || thrown.connected) throw thrown
        if (position === tried.length - 1) {
          this.#guard.names.forget(url.hostname)
          throw thrown
        }
      }
    }
    throw new AddressRefused('the name has no address')
  }

  /** What was stored may be older than the rules; paths that we add keep to them too. */
  #checked(text: string): URL {
    const { url, refusal } = checkCall(text, this.#guard.rules)
    if (refusal !== undefined) throw new AddressRefused(refusal, { isOfText: true })
    return url
  }

  /** All addresses of a host, IPv4 first. Throws `AddressRefused`, `ConnectionFailed`. */
  async #addresses(host: string, owner: string, signal: Stop): Promise<readonly string[]> {
    const literal = host.replace(/^\[|\]$/g, '')
    if (isIP(literal) !== 0) return this.#judge(host, [literal])
    const { names, timers } = this.#guard
    const deadlineMs = Math.max(timers.connectMs * lookUpShare, 1)
    const looking = names.addressesOf({ name: host, owner, deadlineMs })
    const addresses = await unlessAborted(looking, signal)
    const known = this.#judged.get(addresses)
    const allowed = this.#allowed
    if (known?.allowed === allowed) return known.open
    const open = this.#judge(host, addresses)
    this.#judged.set(addresses, { open, allowed })
    return open
  }

  /** What operators let customers name although it is private. */
  get #allowed(): readonly string[] {
    return this.#guard.rules.privateNetworks?.() ?? noNetworks
  }

  /** One that is not public spoils the others: such a name is a mistake, or waits for its chance. */
  #judge(host: string, addresses: readonly string[]): readonly string[] {
    const allowed = this.#allowed
    const closed = addresses.find(
      (address) => !this.#guard.isOpen(address) && !isWithin(address, allowed),
    )
    if (closed === undefined) return addresses.toSorted((one, other) => isIP(one) - isIP(other))
    this.#guard.names.forget(host)
    throw new AddressRefused(`${host} leads to ${closed}`)
  }

  /** Asked and verified as if the URL still had its name, on connections of this owner only. */
  #asFor({ hostname, host }: URL, owner: string): Omit<Way, 'connectMs'> {
    const { ca } = this.#guard
    const isName = isIP(hostname.replace(/^\[|\]$/g, '')) === 0
    const tls = {
      ...(isName ? { serverName: hostname } : {}),
      ...(ca === undefined ? {} : { ca }),
    }
    return { tls, host, owner }
  }
}

/** The same URL with an address in place of its name. */
function pin({ port, pathname, search }: URL, address: string): string {
  const host = isIP(address) === 6 ? `[${address}]` : address
  return `https://${host}${port === '' ? '' : `:${port}`}${pathname}${search}`
}

/** What a name server says, or the reason of a signal that aborts before. */
async function unlessAborted<T>(answer: Promise<T>, signal: Stop): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = { handleEvent: () => reject(signal.reason) }
  if (signal.aborted) abort.handleEvent()
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([answer, promise])
  } catch (thrown) {
    throw signal.aborted ? signal.reason : new ConnectionFailed(false, thrown)
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
