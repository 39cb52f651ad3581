import type { Transport } from '@tollgate/server/upstream/http/transport'
import { closeCodes, mediaFeature, type ToGateway } from '@tollgate/server/tunnel/frames'
import { BackOff } from './back-off'
import { Link, type Ending, type LinkTimeouts } from './link'
import type { Log } from './log'
import type { Offer } from './offer'
import { pause } from './pause'
import { RunningRequests } from './running-requests'
import { decideReconnect, exitCodes } from './reconnect-decision'
import { shortened, type Secrets } from './text'

export interface AgentPorts {
  address: string
  token: string
  proxy: string | undefined
  /** The version of the program. */
  version: string
  offer: Offer
  transport: Transport
  log: Log
  secrets: Secrets
  timeouts?: Partial<LinkTimeouts>
  random?: () => number
  /** Waits before it reconnects. */
  pause?: typeof pause
  /** Milliseconds of a clock that only runs forward. */
  nowMs?: () => number
}

const firstMs = 500
const maxBackOffMs = 30_000
/** A connection that lasted this long resets the back-off. */
const heldMs = 60_000
/** The shortest life of a connection after which a shutdown of the node reconnects at once. */
const soonMs = 1000
const maxRefusals = 20

/** Keeps one socket to Tollgate open and serves its requests. */
export class Agent {
  readonly #ports: AgentPorts
  readonly #backOff: BackOff
  #link: Link | undefined
  #running: RunningRequests | undefined
  #hellos = 0
  #wasReported = ''
  #welcomedAt: number | undefined
  #failure = ''

  constructor(ports: AgentPorts) {
    this.#ports = ports
    const { random } = ports
    this.#backOff = new BackOff({ firstMs, maxMs: maxBackOffMs, ...(random ? { random } : {}) })
  }

  /** Resolves with the exit code: after `signal` aborts, or when reconnecting is pointless. */
  async run(signal: AbortSignal): Promise<number> {
    const { log } = this.#ports
    while (!signal.aborted) {
      const ending = await this.#hold(signal)
      if (signal.aborted) break
      const decision = decideReconnect(ending)
      if (decision.next === 'never') {
        log('error', 'stopped', decision.message)
        return decision.exitCode
      }
      const waitMs = this.#waitMs(decision.next)
      this.#reportLost(decision.message, waitMs)
      await (this.#ports.pause ?? pause)(waitMs, signal)
    }
    return exitCodes.done
  }

  /** Announces the offer, where it differs from the last announcement. */
  announce(): void {
    const link = this.#link
    if (!link?.isOpen) return
    const announcement = this.#ports.offer.announcement()
    const announced = JSON.stringify(announcement)
    if (announced === this.#wasReported) return
    this.#wasReported = announced
    const id = `hello-${(this.#hellos += 1)}`
    const features = [mediaFeature]
    link.send({ type: 'hello', id, version: this.#ports.version, features, ...announcement })
  }

  /** Runs one socket, from its opening to its end. */
  async #hold(signal: AbortSignal): Promise<Ending> {
    const { address, token, proxy, timeouts } = this.#ports
    this.#wasReported = ''
    this.#welcomedAt = undefined
    const link = new Link(
      { address, token, proxy, ...(timeouts ? { timeouts } : {}) },
      { opened: () => this.announce(), frame: (frame) => this.#take(frame) },
    )
    const running = new RunningRequests(this.#ports, link)
    this.#link = link
    this.#running = running
    const stop = () => {
      running.cancelAll()
      link.close(1000, 'the agent was stopped')
    }
    signal.addEventListener('abort', stop, { once: true })
    const ending = await link.ended
    signal.removeEventListener('abort', stop)
    running.cancelAll()
    return ending
  }

  #take(frame: ToGateway): void {
    switch (frame.type) {
      case 'welcome':
        return this.#welcomed(frame)
      case 'request':
      case 'tool_call':
        if (this.#running?.begin(frame)) return
        return this.#link?.close(closeCodes.protocolError, 'two requests have the same id')
      case 'content':
        return this.#running?.addContent(frame.id, frame.data)
      case 'window':
        return this.#running?.grant(frame.id, frame.bytes)
      case 'cancel':
        return this.#running?.cancel(frame.id)
      case 'error':
        return this.#ports.log(
          'warn',
          'tollgate_error',
          `Tollgate says: ${shortened(frame.message)}`,
        )
      case 'ping':
        return undefined
    }
  }

  #welcomed({
    gateway_id: gateway,
    heartbeat_seconds: seconds,
    refused,
  }: ToGateway & { type: 'welcome' }) {
    const { log, offer } = this.#ports
    this.#link?.beatEvery(seconds * 1000)
    const isFirst = this.#welcomedAt === undefined
    this.#welcomedAt ??= this.#nowMs()
    this.#failure = ''
    const { providers, models, tools } = offer.announcement()
    const served = `${models.length} models of ${providers.join(', ') || 'no provider'}, ${tools.length} tools`
    log(
      'info',
      'online',
      `${isFirst ? 'Online as' : 'Announced by'} ${shortened(gateway, 40)}: ${served}.`,
    )
    for (const { what, name, reason } of refused.slice(0, maxRefusals)) {
      log(
        'warn',
        'refused',
        `Tollgate rejected the ${what} ${shortened(name)}: ${shortened(reason)}`,
      )
    }
  }

  #nowMs(): number {
    return (this.#ports.nowMs ?? performance.now.bind(performance))()
  }

  #waitMs(when: 'at once' | 'later'): number {
    const heldFor = this.#welcomedAt === undefined ? 0 : this.#nowMs() - this.#welcomedAt
    if (heldFor >= heldMs) this.#backOff.reset()
    return when === 'at once' && heldFor >= soonMs ? 0 : this.#backOff.next()
  }

  /** Logs a failure, unless it repeats the last one. */
  #reportLost(message: string, waitMs: number): void {
    if (message === this.#failure) return
    this.#failure = message
    const when = waitMs < 1000 ? 'at once' : `in ${Math.round(waitMs / 1000)} s`
    this.#ports.log('warn', 'offline', `${shortened(message, 300)}. Trying again ${when}.`)
  }
}
