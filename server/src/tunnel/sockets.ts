import { toCapabilities } from './capabilities'
import type { LocalTunnels } from './local-tunnels'
import { authenticateGateway } from './authenticate-gateway'
import { bounds, closeCodes, type FromGateway } from './frames'
import type { GatewayRows } from './gateway-store'
import { TunnelConnection, type Entered, type GatewayIdentity } from './tunnel-connection'
import { ProtocolError, readFrame } from './read-frame'
import { newId } from '../platform/db/id'
import { unavailable } from '../errors'

type Hello = Extract<FromGateway, { type: 'hello' }>

/** The data attached to each socket. */
export interface SocketData extends Entered {
  link?: TunnelConnection
  /** The first and the last of the socket's database writes, which run one after the other. */
  attached?: Promise<void>
  written?: Promise<void>
  helloTimer?: ReturnType<typeof setTimeout>
  /** The newest hello that was not handled yet. */
  hello?: Hello | undefined
  isGreeting?: boolean
  /** Set once the gateway has broken the protocol. */
  isBroken?: boolean
}

type Socket = Bun.ServerWebSocket<SocketData>

interface SocketPorts extends Pick<Parameters<typeof authenticateGateway>[2], 'failures'> {
  rows: GatewayRows
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
}

/** Of a flood of hellos the last one of each second is handled. */
const helloEveryMs = 1000
const leaveEveryMs = 100
/** The maximum of sockets that one gateway may open within `opensMs`: two that compete with one token open more. */
const mostOpens = 60
const opensMs = 60_000
/** The close code "try again later", for when the database cannot be written. */
const comeAgain = 1013
const mostUnreadBytes = 32 * 1024 * 1024

/** Manages the sockets of self-hosted gateways, from their opening to their end. Source: contract 10.5. */
export class Sockets implements AsyncDisposable {
  readonly #ports: SocketPorts
  readonly #timers: ReturnType<typeof setInterval>[]
  readonly #open = new Map<TunnelConnection, SocketData>()
  readonly #writing = new Set<Promise<void>>()
  /** The number of recently opened sockets by gateway. */
  readonly #opens = new Map<string, number>()
  #pings = 0
  #isLeaving = false

  constructor(ports: SocketPorts) {
    this.#ports = ports
    const { heartbeatMs } = ports
    this.#timers = [
      setInterval(() => this.#endSilent(), heartbeatMs / 6),
      setInterval(() => this.#ping(), heartbeatMs),
      setInterval(() => this.recheck(), heartbeatMs / 3),
      setInterval(() => this.#opens.clear(), opensMs),
    ]
    for (const timer of this.#timers) timer.unref()
    this.handlers = {
      // Twice the bound, so that a frame slightly above it is refused with a reason.
      maxPayloadLength: 2 * bounds.frameBytes,
      backpressureLimit: mostUnreadBytes,
      closeOnBackpressureLimit: true,
      perMessageDeflate: false,
      // Tollgate sends its own heartbeat frames; a socket that does not even take those is dead.
      idleTimeout: Math.max(8, Math.ceil((3 * heartbeatMs) / 1000)),
      sendPings: false,
      open: (socket) => this.#opened(socket),
      message: (socket, message) => this.#received(socket, message),
      drain: ({ data }) => data.link?.drained(),
      close: (socket, code, reason) => this.#closed(socket, { code, reason }),
    }
  }

  /**
   * Authenticates a request to open a socket. Rejects as `authenticateGateway` does, and with `gateway_unavailable`
   * for a gateway that opens too many.
   */
  async enter(request: Request, client: string): Promise<Entered> {
    if (this.#isLeaving) throw unavailable()
    const found = await authenticateGateway(request, client, this.#ports)
    const { gateway } = found
    const opened = (this.#opens.get(gateway.id) ?? 0) + 1
    this.#opens.set(gateway.id, opened)
    if (opened > mostOpens) throw unavailable(new Error(`${gateway.id} opens too many sockets`))
    return found
  }

  /** The handlers for the runtime's sockets. */
  readonly handlers: Bun.WebSocketHandler<SocketData>

  /** Handles a database notification: `<gateway> <socket>`, or `<gateway>` alone for a deleted gateway. */
  heard(payload: string): void {
    const [id = '', socketId] = payload.split(' ')
    const link = this.#ports.attached.find(id)
    if (!link) return
    if (socketId === undefined) link.close(closeCodes.revoked, 'the gateway was deleted')
    // The notification may be older than this socket.
    else if (socketId !== link.socketId) this.#check([link])
  }

  /** Checks the sockets of a changed account or organization, which may have been suspended. */
  ownerChanged(ownerId: string): void {
    this.#check(
      this.#linksOf(({ userId, organizationId }) => ownerId === (userId ?? organizationId)),
    )
  }

  /** Renews the heartbeat of all sockets, and closes those that are no longer their gateway's. */
  recheck(): void {
    this.#check(this.#linksOf(() => true))
  }

  /** Starts the graceful shutdown: gateways are to connect elsewhere, each once nothing runs over its socket. */
  leave(): void {
    this.#isLeaving = true
    this.#closeIdle()
    this.#timers.push(setInterval(() => this.#closeIdle(), leaveEveryMs))
  }

  /** Resolves once no call runs over any socket: calls of other nodes are not among this node's requests. */
  async idle(): Promise<void> {
    while ([...this.#open.keys()].some(({ size }) => size > 0)) await Bun.sleep(leaveEveryMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
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

  #linksOf(isWanted: (gateway: GatewayIdentity) => boolean): TunnelConnection[] {
    return [...this.#open.keys()].filter(({ gateway }) => isWanted(gateway))
  }

  #opened(socket: Socket): void {
    const { data } = socket
    const { rows, attached, heartbeatMs } = this.#ports
    const link = new TunnelConnection(data.gateway, newId('sock', data.enteredAtMs), socket)
    data.link = link
    this.#open.set(link, data)
    data.helloTimer = setTimeout(() => this.#broke(link, 'No hello came in time.'), heartbeatMs / 3)
    data.attached = this.#write(data, async () => {
      const isTheirs = await rows.attach(link)
      // The socket may have closed meanwhile, and must not replace another then.
      if (link.isLost) return
      if (isTheirs) attached.attach(link)
      else await this.#part(link)
    })
  }

  #received({ data }: Socket, message: string | Buffer): void {
    const { link } = data
    if (!link || link.isLost) return
    link.lastFrameAtMs = performance.now()
    try {
      const frame = readFrame(message)
      if (frame.type === 'hello') this.#greet(link, data, frame)
      else if (frame.type !== 'heartbeat') link.take(frame)
    } catch (thrown) {
      if (!(thrown instanceof ProtocolError)) throw thrown
      this.#broke(link, thrown.message)
    }
  }

  #broke(link: TunnelConnection, words: string): void {
    const data = this.#open.get(link)
    if (!data) return
    data.isBroken = true
    link.send({ type: 'error', id: '', code: 'protocol_error', message: words })
    link.close(closeCodes.protocolError, words.slice(0, 100))
  }

  #closed({ data }: Socket, { code, reason }: { code: number; reason: string }): void {
    const { link } = data
    clearTimeout(data.helloTimer)
    if (!link) return
    link.lose()
    this.#open.delete(link)
    this.#ports.attached.detach(link)
    // The runtime's own message for a frame that is far too large.
    const isBroken = data.isBroken === true || (code === 1006 && reason.includes('too big'))
    void this.#write(data, () => this.#ports.rows.detach(link, isBroken ? 'error' : 'offline'))
  }

  /** Handles one hello a second, the newest of those that came meanwhile. */
  #greet(link: TunnelConnection, data: SocketData, hello: Hello): void {
    clearTimeout(data.helloTimer)
    data.hello = hello
    if (data.isGreeting) return
    data.isGreeting = true
    const taking = this.#write(data, async () => {
      const next = data.hello
      data.hello = undefined
      if (next && !link.isLost) await this.#welcome(link, next)
    })
    const goOn = () => {
      data.isGreeting = false
      if (data.hello && !link.isLost) this.#greet(link, data, data.hello)
    }
    void taking.then(() => setTimeout(goOn, helloEveryMs).unref())
  }

  async #welcome(link: TunnelConnection, hello: Hello): Promise<void> {
    const { rows, providers, changed, heartbeatMs } = this.#ports
    const { gateway } = link
    const announced = toCapabilities(hello, new Set(providers().keys()))
    if (!(await rows.welcome(link, announced))) return this.#part(link)
    changed(gateway.userId ?? gateway.organizationId ?? '')
    link.announced = announced
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
      const alive = await rows.beat(links)
      for (const link of links) if (!alive.has(link.socketId)) await this.#part(link)
    }
    checking().catch(onError)
  }

  async #part(link: TunnelConnection): Promise<void> {
    const isThere = await this.#ports.rows.isThere(link.gateway.id)
    if (isThere) link.close(closeCodes.replaced, 'replaced by a newer socket')
    else link.close(closeCodes.revoked, 'the token is not valid any more')
  }

  #endSilent(): void {
    const nowMs = performance.now()
    const patienceMs = 2 * this.#ports.heartbeatMs
    for (const link of this.#open.keys()) {
      if (nowMs - link.lastFrameAtMs > patienceMs) {
        link.close(closeCodes.silent, 'silent for too long')
      } else if (link.isStuck(nowMs, patienceMs)) {
        link.close(closeCodes.silent, 'does not read what is sent to it')
      }
    }
  }

  #ping(): void {
    const id = `ping-${++this.#pings}`
    for (const link of this.#open.keys()) link.send({ type: 'ping', id })
  }

  /** Queues a database write; a failure closes the socket, and its gateway reconnects. */
  #write(data: SocketData, work: () => Promise<void>): Promise<void> {
    const writing = (data.written ?? Promise.resolve())
      .then(work)
      .catch((thrown: unknown) => {
        this.#ports.onError(thrown)
        if (data.link && !data.link.isLost) data.link.close(comeAgain, 'try again')
      })
      .finally(() => this.#writing.delete(writing))
    data.written = writing
    this.#writing.add(writing)
    return writing
  }
}
