import { expect, test } from 'bun:test'
import { Transport } from '@tollgate/server/upstream/http/transport'
import { SimulatedServer } from './agent-fixture-for-tests'
import { Offer } from './offer'
import { lookAround } from './survey'

test('a discovered server that stops answering is kept, without models', async () => {
  using ollama = new SimulatedServer()
  const offer = new Offer([])
  const events: string[] = []
  const ports = {
    offer,
    transport: new Transport(),
    log: (_level: string, event: string) => void events.push(event),
    environment: { OLLAMA_HOST: new URL(ollama.baseUrl).host },
    address: 'wss://tollgate.example/gateway',
    discoveryMs: 20_000,
  }
  const { baseUrl: address } = ollama
  const own = () => offer.servers.filter(({ baseUrl }) => baseUrl === address)
  await lookAround(ports)
  expect(own().map(({ models }) => [...models])).toEqual([['llama']])
  ollama[Symbol.dispose]()
  await lookAround(ports)
  await lookAround(ports)
  expect(own().map(({ models }) => [...models])).toEqual([[]])
  expect(events.filter((event) => event === 'server_silent')).toHaveLength(1)
})

test('the Tollgate that it serves does not count as a server of this machine', async () => {
  using ollama = new SimulatedServer()
  const { port, host } = new URL(ollama.baseUrl)
  const offer = new Offer([])
  await lookAround({
    offer,
    transport: new Transport(),
    log: () => undefined,
    environment: { OLLAMA_HOST: host },
    address: `ws://127.0.0.1:${port}/gateway`,
  })
  expect(offer.servers.filter(({ baseUrl }) => baseUrl === ollama.baseUrl)).toEqual([])
})
