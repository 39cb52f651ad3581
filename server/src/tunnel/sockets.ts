import { toCapabilities } from './capabilities'
import type { LocalTunnels } from './local-tunnels'
import { authenticateGateway } from './authenticate-gateway'
import { bounds, closeCodes, type GatewayHello } from './frames'
import type { GatewayRows } from './gateway-store'
import { TunnelConnection, type AuthenticatedGateway } from './tunnel-connection'
import { ProtocolError, readFrame } from './read-frame'
import { systemClock, type Clock, type Timer } from '../platform/clock'
import { newId } from '../platform/db/id'
import { Periodic } from '../platform/periodic'
import { unavailable } from '../errors'

/** The data attached to each socket. */
export interface SocketData extends AuthenticatedGateway {
  link?: TunnelConnection
  /** The first and the last of the socket's database writes, which run one after the other. */
  attached?: Promise<void>
  pendingWrite?: Promise<void>
  helloTimer?: Timer
  /** The newest hello that was not handled yet. */
  hello?: GatewayHello | undefined
  isGreeting?: boolean
  /** Set once the gateway has broken the protocol. */
  isBroken?: boolean
}

type Socket = Bun.ServerWebSocket<SocketData>

interface SocketPorts extends Pick<Parameters<typeof authenticateGateway>[2], 'failures'> {
  rows: Omit<GatewayRows, 'findLocation' | 'tools'>
  attached: LocalTunnels
  /** The enabled providers, by key. */
  providers: () => ReadonlyMap<string, unknown>
  /**
   * The interval of heartbeats in both directions; after twice as long without a message the socket is presumed dead.
   */
  heartbeatMs: number
  /** Called when an account or an organization was changed. */
  changed: (ownerId: string) => void
  onError: (error: unknown) => void
  clock?: Clock
}

/** Of a flood of hellos the last one of each second is handled. */
const helloEveryMs = 1000
const leaveEveryMs = 100
/** The maximum of sockets that one gateway may open within `opensMs`: two that compete with one token open more. */
const maxOpens = 60
const opensMs = 60_000
/** The close code "try again later", for when the database cannot be written. */
const reconnect = 1013
const maxUnreadBytes = 32 * 1024 * 1024

/** Manages the sockets of self-hosted gateways, from their opening to their end. Source: contract 10.5. */
export class Sockets implements AsyncDisposable {
  readonly #ports: SocketPorts
  readonly #clock: Clock
  readonly #upkeep: Periodic[]
  readonly #open = new Map<TunnelConnection, SocketData>()
  readonly #writing = new Set<Promise<void>>()
  /** The number of recently opened sockets by gateway. */
  readonly #opens = new Map<string, number>()
  #pings = 0
  #isLeaving = false

  constructor({ clock = systemClock, ...ports }: SocketPorts) {
    this.#ports = ports
    this.#clock = clock
    const { heartbeatMs } = ports
    this.#upkeep = [
      new Periodic({ intervalMs: heartbeatMs / 6, run: () => this.#endSilent(), clock }),
      new Periodic({ intervalMs: heartbeatMs, run: () => this.#ping(), clock }),
      new Periodic({ intervalMs: heartbeatMs / 3, run: () => this.recheck(), clock }),
      new Periodic({ intervalMs: opensMs, run: () => this.#opens.clear(), clock }),
    ]
    this.handlers = {
      // Twice the bound, so that a frame slightly above it is refused with a reason.
      maxPayloadLength: 2 * bounds.frameBytes,
      backpressureLimit: maxUnreadBytes,
      closeOnBackpressureLimit: true,
      perMessageDeflate: false,
      // Tollgate sends its own heartbeat frames; a socket that does not even take those is dead.
      idleTimeout: Math.max(8, Math.ceil((3 * heartbeatMs) / 1000)),
      sendPings: false,
      open: (socket) => this.#onOpen(socket),
      message: (socket, message) => this.#onMessage(socket, message),
      drain: ({ data }) => data.link?.onDrain(),
      close: (socket, code, reason) => this.#onClose(socket, { code, reason }),
    }
  }

  /**
   * Authenticates a request to open a socket. Rejects as `authenticateGateway` does, and with `gateway_unavailable`
   * for a gateway that opens too many.
   */
  async authenticate(request: Request, client: string): Promise<AuthenticatedGateway> {
    if (this.#isLeaving) throw unavailable()
    const authentication = await authenticateGateway(request, client, this.#ports)
    const { gateway } = authentication
    const opened = (this.#opens.get(gateway.id) ?? 0) + 1
    this.#opens.set(gateway.id, opened)
    if (opened > maxOpens) throw unavailable(new Error(`${gateway.id} opens too many sockets`))
    return authentication
  }

  /** The handlers for the runtime's sockets. */
  readonly handlers: Bun.WebSocketHandler<SocketData>

  /** Handles a database notification: `<gateway> <socket>`, or `<gateway>` alone for a deleted gateway. */
  onNotification(payload: string): void {
    const [id = '', socketId] = payload.split(' ')
    const link = this.#ports.attached.find(id)
    if (!link) return
    if (socketId === undefined) link.close(closeCodes.revoked, 'the gateway was deleted')
    // The notification may be older than this socket.
    else if (socketId !== link.socketId) this.#check([link])
  }

  /** Checks the sockets of a changed account or organization, which may have been suspended. */
  onOwnerChange(ownerId: string): void {
    const isTheirs = ({ gateway: { userId, organizationId } }: TunnelConnection) =>
      ownerId === (userId ?? organizationId)
    this.#check([...this.#open.keys()].filter(isTheirs))
  }

  /** Renews the heartbeat of all sockets, and closes those that are no longer their gateway's. */
  recheck(): void {
    this.#check([...this.#open.keys()])
  }

  /** Starts the graceful shutdown: gateways are to connect elsewhere, each once nothing runs over its socket. */
  shutdown(): void {
    this.#isLeaving = true
    this.#closeIdle()
    const clock = this.#clock
    this.#upkeep.push(
      new Periodic({ intervalMs: leaveEveryMs, run: () => this.#closeIdle(), clock }),
    )
  }

  /** Resolves once no call runs over any socket: calls of other nodes are not among this node's requests. */
  async idle(): Promise<void> {
    while ([...this.#open.keys()].some(({ size }) => size > 0))
      await this.#clock.sleep(leaveEveryMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const periodic of this.#upkeep) periodic.stop()
    this.close()
    await Promise.all(this.#writing)
  }

  /** Closes all sockets, including those with running requests. */
  close(): void {
    this.#isLeaving = true
    for (const link of this.#open.keys()) link.close(closeCodes.shuttingDown, 'shutting down')
  }

  #closeIdle(): void {
    for (const link of this.#open.keys()) {
      if (link.size === 0) link.close(closeCodes.shuttingDown, 'shutting down')
    }
  }

  #onOpen(socket: Socket): void {
    const { data } = socket
    const { rows, attached, heartbeatMs } = this.#ports
    const link = new TunnelConnection(data.gateway, newId('sock', data.authenticatedAtMs), socket)
    data.link = link
    link.lastFrameAtMs = this.#clock.monotonicMs()
    this.#open.set(link, data)
    data.helloTimer = this.#clock.after(heartbeatMs / 3, () =>
      this.#closeWithError(link, 'No hello came in time.'),
    )
    data.attached = this.#write(data, async () => {
      const isTheirs = await rows.attach(link)
      // The socket may have closed meanwhile, and must not replace another then.
      if (link.isLost) return
      if (isTheirs) attached.attach(link)
      else await this.#closeStale(link)
    })
  }

  #onMessage({ data }: Socket, message: string | Buffer): void {
    const { link } = data
    if (!link || link.isLost) return
    link.lastFrameAtMs = this.#clock.monotonicMs()
    try {
      const frame = readFrame(message)
      if (frame.type === 'hello') this.#handleHello(link, data, frame)
      else if (frame.type !== 'heartbeat') link.take(frame)
    } catch (thrown) {
      if (!(thrown instanceof ProtocolError)) throw thrown
      this.#closeWithError(link, thrown.message)
    }
  }

  #closeWithError(link: TunnelConnection, message: string): void {
    const data = this.#open.get(link)
    if (!data) return
    data.isBroken = true
    link.send({ type: 'error', id: '', code: 'protocol_error', message })
    link.close(closeCodes.protocolError, message.slice(0, 100))
  }

  #onClose({ data }: Socket, { code, reason }: { code: number; reason: string }): void {
    const { link } = data
    data.helloTimer?.[Symbol.dispose]()
    if (!link) return
    link.markLost()
    this.#open.delete(link)
    this.#ports.attached.detach(link)
    // The runtime's own message for a frame that is far too large.
    const isBroken = data.isBroken === true || (code === 1006 && reason.includes('too big'))
    void this.#write(data, () => this.#ports.rows.detach(link, isBroken ? 'error' : 'offline'))
  }

  /** Handles one hello a second, the newest of those that came meanwhile. */
  #handleHello(link: TunnelConnection, data: SocketData, hello: GatewayHello): void {
    data.helloTimer?.[Symbol.dispose]()
    data.hello = hello
    if (data.isGreeting) return
    data.isGreeting = true
    const taking = this.#write(data, async () => {
      const next = data.hello
      data.hello = undefined
      if (next && !link.isLost) await this.#sendWelcome(link, next)
    })
    const handleNext = () => {
      data.isGreeting = false
      if (data.hello && !link.isLost) this.#handleHello(link, data, data.hello)
    }
    void taking.then(() => this.#clock.after(helloEveryMs, handleNext).unref())
  }

  async #sendWelcome(link: TunnelConnection, hello: GatewayHello): Promise<void> {
    const { rows, providers, changed, heartbeatMs } = this.#ports
    const { gateway } = link
    const announced = toCapabilities(hello, new Set(providers().keys()))
    if (!(await rows.welcome(link, announced))) return this.#closeStale(link)
    changed(gateway.userId ?? gateway.organizationId ?? '')
    link.capabilities = announced
    const heartbeat_seconds = Math.max(1, Math.round(heartbeatMs / 1000))
    const { refused } = announced
    link.send({ type: 'welcome', id: hello.id, gateway_id: gateway.id, heartbeat_seconds, refused })
  }

  /** Closes sockets that are no longer their gateway's. */
  #check(links: readonly TunnelConnection[]): void {
    if (links.length === 0) return
    const { rows, onError } = this.#ports
    const checking = async () => {
      // A socket not stored yet would look foreign. Only its first write is awaited, as hellos may come without end.
      for (const link of links) await this.#open.get(link)?.attached
      const alive = await rows.recordHeartbeats(links)
      for (const link of links) if (!alive.has(link.socketId)) await this.#closeStale(link)
    }
    checking().catch(onError)
  }

  async #closeStale(link: TunnelConnection): Promise<void> {
    const gatewayExists = await this.#ports.rows.gatewayExists(link.gateway.id)
    if (gatewayExists) link.close(closeCodes.replaced, 'replaced by a newer socket')
    else link.close(closeCodes.revoked, 'the token is no longer valid')
  }

  #endSilent(): void {
    const nowMs = this.#clock.monotonicMs()
    const timeoutMs = 2 * this.#ports.heartbeatMs
    for (const link of this.#open.keys()) {
      if (nowMs - link.lastFrameAtMs > timeoutMs) {
        link.close(closeCodes.silent, 'no heartbeat in time')
      } else if (link.isStuck(nowMs, timeoutMs)) {
        link.close(closeCodes.silent, 'does not read the data sent to it')
      }
    }
  }

  #ping(): void {
    const id = `ping-${++this.#pings}`
    for (const link of this.#open.keys()) link.send({ type: 'ping', id })
  }

  /** Queues a database write; a failure closes the socket, and its gateway reconnects. */
  #write(data: SocketData, work: () => Promise<void>): Promise<void> {
    const writing = (data.pendingWrite ?? Promise.resolve())
      .then(work)
      .catch((thrown: unknown) => {
        this.#ports.onError(thrown)
        if (data.link && !data.link.isLost) data.link.close(reconnect, 'try again')
      })
      .finally(() => this.#writing.delete(writing))
    data.pendingWrite = writing
    this.#writing.add(writing)
    return writing
  }
}
