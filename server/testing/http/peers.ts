import { readFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createSecureServer } from 'node:tls'
import { GuardedEgress } from '../../src/upstream/http/guarded-egress'
import { startNameServer, type Zone } from './name-server'
import { queryNameServer, Names } from '../../src/upstream/http/names'
import { Transport } from '../../src/upstream/http/transport'
import type { Clock } from '../../src/platform/clock'

const readCertificate = (name: string) =>
  readFileSync(join(import.meta.dir, '../certificates', name), 'utf8')

/** The authority that signs the certificates of test servers. */
export const authority = readCertificate('authority.pem')

interface Arrived {
  /** The number of the connection among those that completed TLS, from 1. */
  connection: number
  /** The name in the client's SNI. */
  serverName: string
  /** The request as received, body included. */
  text: string
}

/** A TLS server that answers each request with the text of `answer`. */
export interface Peer {
  port: number
  /** The number of all connections, with TLS or without. */
  connections: number
  arrived: Arrived[]
  sockets: Set<Socket>
}

interface PeerOptions {
  /** `127.0.0.2` by default, which the tests treat as a public address. */
  host?: string
  port?: number
  /** The certificate for `one.example`, `two.example` and `*.wild.example`, expired or not. */
  certificate?: 'server' | 'expired'
}

const plain = (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')

/** Holds the resources of one test. */
export class TestPeers implements Disposable {
  readonly #closing: (() => unknown)[] = []
  /** Connections to an address that must not be connected to. */
  readonly trespassers: string[] = []

  async peer(
    answer: (socket: Socket) => unknown = plain,
    options: PeerOptions = {},
  ): Promise<Peer> {
    const { host = '127.0.0.2', port = 0, certificate = 'server' } = options
    const peer: Peer = { port, connections: 0, arrived: [], sockets: new Set() }
    let secured = 0
    const keys = { key: readCertificate('server.key'), cert: readCertificate(`${certificate}.pem`) }
    const server = createSecureServer(keys, (socket) => {
      const connection = ++secured
      peer.sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => peer.sockets.delete(socket))
      socket.on('data', (bytes) => {
        const serverName = String(Reflect.get(socket, 'servername'))
        peer.arrived.push({ connection, serverName, text: bytes.toString() })
        answer(socket)
      })
    })
    server.on('connection', () => (peer.connections += 1))
    server.on('tlsClientError', () => undefined)
    this.#closing.push(() => {
      for (const socket of peer.sockets) socket.destroy()
      server.close()
    })
    peer.port = await listening(server, port, host)
    return peer
  }

  /** Watches a port of an address that is not public. */
  async forbidden(host: string, port: number): Promise<void> {
    const server = createServer((socket) => {
      this.trespassers.push(host)
      socket.destroy()
    })
    this.#closing.push(() => server.close())
    await listening(server, port, host)
  }

  /**
   * Connects to each of these hosts, and resolves once their servers have closed that: whatever connected to one of
   * them before is then among its connections.
   */
  async knock(hosts: readonly string[], port: number): Promise<void> {
    for (const host of hosts) {
      const socket = connect({ host, port })
      await new Promise<void>((resolve) => socket.on('error', resolve).on('close', resolve).end())
    }
  }

  /** Starts a name server with these names. */
  async zones(zoneOf: (name: string) => Zone | undefined) {
    const server = await startNameServer(zoneOf)
    this.#closing.push(() => server.close())
    return server
  }

  /** Creates a guarded way out that treats only the addresses in `open` as public. */
  async guarded(zoneOf: (name: string) => Zone | undefined, options: GuardedOptions) {
    const { ports, open = ['127.0.0.2', '127.0.0.3'], connectMs = 20_000 } = options
    const { ca = authority, clock } = options
    const timed = clock ? { clock } : {}
    const server = await this.zones(zoneOf)
    const names = new Names(queryNameServer([server.address], clock))
    const guarded = new GuardedEgress({
      timers: { connectMs },
      rules: { ports, ownHosts: [] },
      names,
      transport: new Transport(timed),
      isOpen: (address) => open.includes(address),
      ...(ca === '' ? {} : { ca }),
      ...timed,
    })
    const send = (url: string, { owner = 'acc_1', signal, headers = {} }: RequestFields = {}) =>
      guarded.send({
        url,
        owner,
        method: 'POST',
        headers,
        body: '{"a":1}',
        signal: signal ?? AbortSignal.timeout(30_000),
      })
    return { guarded, send, names, queries: server.queries }
  }

  [Symbol.dispose](): void {
    for (const close of this.#closing) close()
  }
}

interface GuardedOptions {
  ports: readonly number[]
  open?: readonly string[]
  connectMs?: number
  ca?: string
  clock?: Clock
}

interface RequestFields {
  owner?: string
  signal?: AbortSignal
  headers?: Record<string, string>
}

interface Listening {
  listen: (port: number, host: string, listener: () => void) => unknown
  once: (event: 'error', listener: (error: Error) => void) => unknown
}

/** Below the ports that the system assigns to connections: the same port must be free at other addresses. */
const freePort = () => 20_000 + Math.floor(Math.random() * 12_000)

/** Listens on a port, or on any where it is 0. */
async function listening(server: Listening, port: number, host: string): Promise<number> {
  for (let remainingTries = 20; ; remainingTries--) {
    const tried = port || freePort()
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(tried, host, resolve)
      })
      return tried
    } catch (thrown) {
      if (port !== 0 || remainingTries === 0) throw thrown
    }
  }
}

/** Returns the reason with which a promise rejects. */
export const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
