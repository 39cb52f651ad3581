import { expect, test } from 'bun:test'
import { recordFigure } from '../../../testing/figures'
import { internalPorts } from '../../../testing/http/internal-ports'
import { failure, TestPeers } from '../../../testing/http/peers'

test('X13: the time of an answer does not reveal whether an internal port is open', async () => {
  using peers = new TestPeers()
  const { port } = await peers.peer()
  const send = await internalPorts(peers, port)
  const tookMs: Record<string, number[]> = { 'open.example': [], 'closed.example': [] }
  for (let round = 0; round < 40; round++) {
    for (const [host, times] of Object.entries(tookMs)) {
      const startedAt = performance.now()
      const thrown = await failure(send(`https://${host}:${port}/`))
      times.push(performance.now() - startedAt)
      expect(thrown).toMatchObject({ name: 'AddressRefused' })
    }
  }
  const [open = 0, closed = 0] = Object.values(tookMs).map((times) => Math.min(...times))
  recordFigure('difference of an open and a closed port', Math.abs(open - closed), {
    unit: 'ms',
    atMost: 2,
  })
})
