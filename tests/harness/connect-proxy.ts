import { connect, createServer as createPlainServer, type Socket } from 'node:net'
import { createServer as createSecureServer } from 'node:tls'
import type { Issued } from './private-authority'

/** An HTTP proxy that knows CONNECT alone, and one network: each name leads to 127.0.0.2. */
export interface ConnectProxy extends AsyncDisposable {
  port: number
  /** The heads of the requests for tunnels. */
  requests: string[]
  /** The answer to each of them: a tunnel where it is undefined. */
  refusal: string | undefined
}

/** Starts it on 127.0.0.1; with a certificate, clients speak TLS to it. */
export async function startConnectProxy(issued?: Issued): Promise<ConnectProxy> {
  const sockets = new Set<Socket>()
  const track = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  }
  const onClient = (client: Socket) => {
    track(client)
    client.once('data', (bytes) => {
      const head = bytes.toString('latin1')
      proxy.requests.push(head)
      if (proxy.refusal !== undefined) {
        client.end(proxy.refusal)
        return
      }
      const port = Number(/^CONNECT \S+:(\d+) /.exec(head)?.[1])
      const upstream = connect(port, '127.0.0.2', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n')
        client.pipe(upstream)
        upstream.pipe(client)
      })
      track(upstream)
      upstream.on('close', () => client.destroy())
      client.on('close', () => upstream.destroy())
    })
  }
  const server = issued
    ? createSecureServer({ cert: issued.certificate, key: issued.key }, onClient)
    : createPlainServer(onClient)
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const proxy: ConnectProxy = {
    port,
    requests: [],
    refusal: undefined,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
  return proxy
}
