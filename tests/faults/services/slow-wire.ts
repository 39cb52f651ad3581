import type { Socket, TCPSocketListener } from 'bun'
import { delayedSender } from '../../harness/delayed-sender'

/** A TCP proxy in the test, which can be slowed or cut. */
export interface SlowWire extends Disposable {
  port: number
  /** Delays each direction by `ms` milliseconds from now on. */
  delay: (delayMs: number) => void
  /** Closes all connections and accepts no new ones until it is restored. */
  cut: () => void
  mend: () => void
}

interface Half {
  other: Promise<Socket<Half>>
  /** Sends on to the other end. */
  forward: (bytes: Buffer) => void
}

const toHalf = (other: Promise<Socket<Half>>, wire: { delayMs: number }): Half => ({
  other,
  forward: delayedSender((bytes) => {
    other.then(
      (socket) => socket.write(bytes),
      () => undefined,
    )
  }, wire),
})

/** Handlers of one end of a connection: forward to the other end, and track open sockets. */
const endOf = (open: Set<Socket<Half>>) => ({
  open: (half: Socket<Half>) => void open.add(half),
  data: (half: Socket<Half>, bytes: Buffer) => half.data.forward(bytes),
  close: (half: Socket<Half>) => {
    open.delete(half)
    half.data.other.then(
      (other) => other.end(),
      () => undefined,
    )
  },
})

/** Starts a proxy to a port of this machine. */
export function startWire(targetPort: number): SlowWire {
  const open = new Set<Socket<Half>>()
  const state = { delayMs: 0, isCut: false }
  const socket = endOf(open)
  const accept = (near: Socket<Half>) => {
    const refused = Promise.reject(new Error('cut'))
    refused.catch(() => undefined)
    near.data = toHalf(refused, state)
    if (state.isCut) {
      near.terminate()
      return
    }
    open.add(near)
    const data = toHalf(Promise.resolve(near), state)
    const far = Bun.connect<Half>({ hostname: '127.0.0.1', port: targetPort, data, socket })
    far.catch(() => near.terminate())
    near.data = toHalf(far, state)
  }
  const listener: TCPSocketListener<Half> = Bun.listen<Half>({
    hostname: '127.0.0.1',
    port: 0,
    socket: { ...socket, open: accept },
  })
  return {
    port: listener.port,
    delay: (delayMs) => {
      state.delayMs = delayMs
    },
    cut: () => {
      state.isCut = true
      for (const half of open) half.terminate()
    },
    mend: () => {
      state.isCut = false
    },
    [Symbol.dispose]: () => listener.stop(true),
  }
}
