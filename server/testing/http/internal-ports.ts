import type { TestPeers } from './peers'

/**
 * Creates a guarded way out at whose `open.example` a server of the internal network listens on this port, and at whose
 * `closed.example` none does.
 */
export async function internalPorts(peers: TestPeers, port: number) {
  await peers.forbidden('127.0.0.4', port)
  const zones = new Map([
    ['open.example', { addresses: ['127.0.0.4'] }],
    ['closed.example', { addresses: ['127.0.0.5'] }],
  ])
  const { send } = await peers.guarded((name) => zones.get(name), { ports: [port] })
  return send
}
