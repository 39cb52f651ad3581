import type { Clock } from '@tollgate/server/platform/clock'
import type { ToGateway } from '@tollgate/server/tunnel/frames'
import { Link, type LinkTimeouts } from './link'
import { SimulatedTollgate, token } from './tollgate-for-tests'

interface Timing {
  timeouts?: Partial<LinkTimeouts>
  clock?: Clock
}

export function openLink(address: string, timing: Timing = {}) {
  const received: ToGateway[] = []
  const opened = Promise.withResolvers<void>()
  const link = new Link(
    { address, token, proxy: undefined, ...timing },
    { opened: opened.resolve, frame: (frame) => received.push(frame) },
  )
  return { link, received, opened: opened.promise }
}

/** Opens a link that Tollgate welcomes. */
export async function createFixture(timing: Timing = {}) {
  const tollgate = new SimulatedTollgate()
  const one = openLink(tollgate.address, timing)
  await one.opened
  return { ...one, tollgate, [Symbol.dispose]: () => tollgate[Symbol.dispose]() }
}

/** Whether a link has ended. */
export function endOf(link: Link): () => boolean {
  let isOver = false
  void link.ended.then(() => (isOver = true))
  return () => isOver
}

/** The answer that makes a WebSocket of a connection. Source: RFC 6455, 4.2.2. */
export function upgradeOf(bytes: Buffer): string {
  const key = /sec-websocket-key: (.*)\r\n/i.exec(bytes.toString())?.[1] ?? ''
  const magic = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
  const accept = new Bun.CryptoHasher('sha1').update(key + magic).digest('base64')
  return (
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n' +
    `sec-websocket-accept: ${accept}\r\nsec-websocket-protocol: tollgate.gateway.1\r\n\r\n`
  )
}
