import { isIP } from 'node:net'
import { isOwn, isPublic, isWithin } from './address'
import { sendBytes, type StreamedBytes } from './byte-stream'
import { ConnectionFailed } from './connection-failed'
import type { OwnedCall } from './egress'
import type { Names } from './names'
import { assertNoProxy } from './no-proxy'
import { systemClock, type Clock } from '../../platform/clock'
import type { Answer } from './answer'
import type { StopSignal } from './stop-signal'
import type { DialOptions, Transport } from './transport'
import { checkCall, checkUserUrl, type CheckedUrl, type UrlRules } from './user-url'

/** A request to a forbidden target. The caller learns only that the host was not reached. */
export class AddressRefused extends ConnectionFailed {
  override readonly name = 'AddressRefused'
  /** The reason, for the author of the URL; set where the URL's text alone gives it, without a network lookup. */
  readonly refusal: string | undefined

  constructor(why: string, { isOfText = false } = {}) {
    super(false, new Error(why))
    this.refusal = isOfText ? why : undefined
  }
}

interface GuardOptions {
  /** Read each time. */
  timers: { readonly connectMs: number }
  rules: UrlRules
  names: Names
  transport: Transport
  /** Whether an address may be connected to; tests override it, as they have no public addresses. */
  isOpen?: (address: string) => boolean
  /** Certificate authorities instead of the default ones, for tests. */
  ca?: string
  clock?: Clock
}

/** The share of the connect timeout that the name lookup may take. */
const lookupShare = 2 / 3
const maxAddresses = 2

const isOtherHost = (address: string) => isPublic(address) && !isOwn(address)

/** Addresses that may be connected to, valid as long as the same private networks are allowed. */
interface AddressVerdict {
  open: readonly string[]
  allowed: readonly string[]
}

const noNetworks: readonly string[] = []
/** The ports of syslog, over TLS and over plain TCP, beside those of endpoints. Source: RFC 5425, RFC 6587. */
const streamPorts: readonly number[] = [514, 601, 6514]
const maxLookupMs = 2000

/**
 * The way out for addresses that customers set: https to the public internet. A name is looked up once, each of its
 * addresses is checked, and the request goes to one of those very addresses: the fetched URL contains no name that
 * could be looked up again. The certificate must name the host. Connections are shared within one owner and host.
 */
export class GuardedEgress {
  readonly #guard: Required<Omit<GuardOptions, 'ca'>> & Pick<GuardOptions, 'ca'>
  /** Verdicts on looked-up addresses, each computed once while the lookup is fresh. */
  readonly #verdicts = new WeakMap<readonly string[], AddressVerdict>()

  /** Throws where the environment names a proxy, which would connect in Tollgate's place. */
  constructor(guard: GuardOptions) {
    assertNoProxy(process.env)
    this.#guard = { isOpen: isOtherHost, clock: systemClock, ...guard }
  }

  /**
   * Checks whether a URL that a customer sets may be called, as far as is known now: a name that does not resolve yet
   * is checked when it is used.
   */
  check(text: string, owner: string): Promise<CheckedUrl> {
    return this.#checkHost(checkUserUrl(text, this.#guard.rules), owner)
  }

  /** Checks like `check` a URL that is called as it is stored: it may have a query. */
  checkCall(text: string, owner: string): Promise<CheckedUrl> {
    const { url, refusal } = checkCall(text, this.#guard.rules)
    return this.#checkHost(url ? { href: url.href } : { refusal }, owner)
  }

  /** Checks like `check` the address of a stream of bytes over TLS. */
  checkStream(host: string, port: number, owner: string): Promise<CheckedUrl> {
    return this.#checkHost(this.#checkStreamText(host, port), owner)
  }

  #checkStreamText(host: string, port: number): CheckedUrl {
    const { rules } = this.#guard
    const text = `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`
    return checkUserUrl(text, { ...rules, ports: [...rules.ports, ...streamPorts] })
  }

  async #checkHost(checked: CheckedUrl, owner: string): Promise<CheckedUrl> {
    if (checked.refusal !== undefined) return checked
    try {
      const { hostname } = new URL(checked.href)
      await this.#addresses(hostname, owner, AbortSignal.timeout(maxLookupMs))
    } catch (thrown) {
      if (thrown instanceof AddressRefused) {
        return { refusal: 'The host leads to an address that is not one of the public internet.' }
      }
    }
    return checked
  }

  /** Sends a request. Throws `ConnectionFailed`, or the reason of the signal. */
  async send({ owner, ...call }: OwnedCall): Promise<Answer> {
    const { timers, transport, clock } = this.#guard
    // A proxy would connect in Tollgate's place, to whatever address the name has there.
    if (call.network?.proxy) throw new AddressRefused('only the operator may have a proxy')
    const url = this.#parseUrl(call.url)
    const startedAt = clock.monotonicMs()
    const addresses = await this.#addresses(url.hostname, owner, call.signal)
    const tried = addresses.slice(0, maxAddresses)
    for (const [position, address] of tried.entries()) {
      const remainingMs = Math.max(timers.connectMs - (clock.monotonicMs() - startedAt), 1)
      try {
        // Leaves time for the next address.
        const connectMs = remainingMs / (tried.length - position)
        const pinned = { ...call, url: pin(url, address) }
        const { network } = call
        const options = this.#toConnectionOptions(url, owner)
        const dialOptions = network ? { ...options, connectMs, network } : { ...options, connectMs }
        return await transport.send(pinned, dialOptions)
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

  /** Sends bytes over TLS, to an address that was checked. Rejects as `sendBytes` does. */
  async sendStream({ owner, ...stream }: StreamedBytes & { owner: string }): Promise<void> {
    const { timers, ca } = this.#guard
    const { host, port, isSecure, signal } = stream
    const { refusal } = this.#checkStreamText(host, port)
    if (refusal !== undefined) throw new AddressRefused(refusal, { isOfText: true })
    if (!isSecure) throw new AddressRefused('only TLS is allowed', { isOfText: true })
    const addresses = await this.#addresses(host, owner, signal)
    const tried = addresses.slice(0, maxAddresses)
    for (const [position, address] of tried.entries()) {
      try {
        return await sendBytes({ ...stream, address, ca, connectMs: timers.connectMs })
      } catch (thrown) {
        const isLast = position === tried.length - 1
        if (!(thrown instanceof ConnectionFailed) || thrown.connected || isLast) throw thrown
      }
    }
    throw new AddressRefused('the name has no address')
  }

  /** A stored URL may be older than the rules; the paths that Tollgate appends must obey them too. */
  #parseUrl(text: string): URL {
    const { url, refusal } = checkCall(text, this.#guard.rules)
    if (refusal !== undefined) throw new AddressRefused(refusal, { isOfText: true })
    return url
  }

  /** Returns all addresses of a host, IPv4 first. Throws `AddressRefused`, `ConnectionFailed`. */
  async #addresses(host: string, owner: string, signal: StopSignal): Promise<readonly string[]> {
    const literal = host.replace(/^\[|\]$/g, '')
    if (isIP(literal) !== 0) return this.#judge(host, [literal])
    const { names, timers } = this.#guard
    const deadlineMs = Math.max(timers.connectMs * lookupShare, 1)
    const looking = names.addressesOf({ name: host, owner, deadlineMs })
    const addresses = await unlessAborted(looking, signal)
    const knownVerdict = this.#verdicts.get(addresses)
    const allowed = this.#allowed
    if (knownVerdict?.allowed === allowed) return knownVerdict.open
    const open = this.#judge(host, addresses)
    this.#verdicts.set(addresses, { open, allowed })
    return open
  }

  /** Private networks that operators let customers use. */
  get #allowed(): readonly string[] {
    return this.#guard.rules.privateNetworks?.() ?? noNetworks
  }

  /** One private address rejects all addresses of a name: such a name is a mistake, or a prepared attack. */
  #judge(host: string, addresses: readonly string[]): readonly string[] {
    const allowed = this.#allowed
    const closed = addresses.find(
      (address) => !this.#guard.isOpen(address) && !isWithin(address, allowed),
    )
    if (closed === undefined) return addresses.toSorted((one, other) => isIP(one) - isIP(other))
    this.#guard.names.forget(host)
    throw new AddressRefused(`${host} leads to ${closed}`)
  }

  /** Options for requesting and verifying as if the URL still had its name, on connections of this owner only. */
  #toConnectionOptions({ hostname, host }: URL, owner: string): Omit<DialOptions, 'connectMs'> {
    const { ca } = this.#guard
    const isName = isIP(hostname.replace(/^\[|\]$/g, '')) === 0
    const tls = {
      ...(isName ? { serverName: hostname } : {}),
      ...(ca === undefined ? {} : { ca }),
    }
    return { tls, host, owner }
  }
}

/** Returns the URL with an address in place of its name. */
function pin({ port, pathname, search }: URL, address: string): string {
  const host = isIP(address) === 6 ? `[${address}]` : address
  return `https://${host}${port === '' ? '' : `:${port}`}${pathname}${search}`
}

/** Returns a name server's answer, or rejects with the reason of a signal that aborts before. */
async function unlessAborted<T>(answer: Promise<T>, signal: StopSignal): Promise<T> {
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
