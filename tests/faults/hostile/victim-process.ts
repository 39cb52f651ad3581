/**
 * The victim of an attack, in its own process: a provider that answers after 20 ms, and clients that
 * send one chat after the other. Measures rate and latency on demand.
 */
import { z } from 'zod'

export const Measured = z.object({ rate: z.number(), p99Ms: z.number(), failures: z.number() })
export type Measured = z.output<typeof Measured>

const Order = z.object({ url: z.string(), key: z.string(), forMs: z.number() })
export type Order = z.output<typeof Order>

const clients = 16
const providerMs = 20

const answer = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
})

const provider = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    await request.text()
    await Bun.sleep(providerMs)
    return new Response(answer, { headers: { 'content-type': 'application/json' } })
  },
})

async function chat({ url, key }: Order): Promise<boolean> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'victim/m', messages: [{ role: 'user', content: 'Hello?' }] }),
  })
  await response.text()
  return response.status === 200
}

async function measure(order: Order): Promise<Measured> {
  const startedAt = performance.now()
  const times: number[] = []
  let failures = 0
  const client = async () => {
    while (performance.now() - startedAt < order.forMs) {
      const sentAt = performance.now()
      if (await chat(order)) times.push(performance.now() - sentAt)
      else failures += 1
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  times.sort((a, b) => a - b)
  const seconds = (performance.now() - startedAt) / 1000
  const p99Ms = times[Math.floor(times.length * 0.99)] ?? Number.POSITIVE_INFINITY
  return { rate: times.length / seconds, p99Ms, failures }
}

process.on('message', async (message) => {
  process.send?.(await measure(Order.parse(message)))
})
process.on('disconnect', () => process.exit())
process.send?.({ providerUrl: `http://127.0.0.1:${provider.port}` })
