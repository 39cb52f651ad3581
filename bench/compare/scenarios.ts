import { postOf } from '../load/load'
import type { Plan } from '../load/plan'
import type { Subject } from '../subjects/subject'

/** One kind of load. */
export interface Scenario {
  name: string
  title: string
  /** The model of the fake provider that answers it. */
  model: string
  path: string
  body: object
  connections: number
  leaveEvery?: number
  /** Duration, where one answer takes longer than the default. */
  minSeconds?: number
  /** Streams that are open meanwhile, with a chunk a second each. */
  openStreams?: number
}

const chat = '/v1/chat/completions'
const messages = (characters: number) => [{ role: 'user', content: 'x'.repeat(characters) }]
const streamed = { stream: true, stream_options: { include_usage: true }, messages: messages(900) }
const weather = {
  name: 'get_weather',
  description: 'The weather of a city, now.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

const plain = (connections: number): Scenario => ({
  name: `chat-${connections}`,
  title: `plain chat, 1 kB, ${connections} ${connections === 1 ? 'connection' : 'connections'}`,
  model: 'plain',
  path: chat,
  body: { messages: messages(900) },
  connections,
})

const stream = (gapMs: 0 | 10, connections: number): Scenario => ({
  name: `stream-${gapMs}-${connections}`,
  title: `streams of 100 chunks, ${gapMs} ms apart, ${connections} open`,
  model: `stream-${gapMs}`,
  path: chat,
  body: streamed,
  connections,
  minSeconds: 4,
})

/** A sequential client beside streams in which little happens. */
const beside = (openStreams: number): Scenario => ({
  ...plain(1),
  name: `chat-1-beside-${openStreams}`,
  title: `plain chat, 1 kB, 1 connection, beside ${openStreams} open ${openStreams === 1 ? 'stream' : 'streams'}`,
  openStreams,
})

export const scenarios: readonly Scenario[] = [
  plain(1),
  beside(1),
  beside(1000),
  plain(10),
  plain(64),
  {
    name: 'prompt-100k',
    title: 'plain chat, a prompt of 100 kB, 10 connections',
    model: 'long',
    path: chat,
    body: { messages: messages(100_000) },
    connections: 10,
  },
  stream(0, 200),
  stream(0, 1000),
  stream(10, 200),
  stream(10, 1000),
  {
    name: 'tools',
    title: 'streams of tool calls, 100 chunks, 64 open',
    model: 'tools',
    path: chat,
    body: { ...streamed, tools: [{ type: 'function', function: weather }] },
    connections: 64,
  },
  {
    name: 'embeddings',
    title: 'embeddings of 64 inputs, 512 dimensions, 10 connections',
    model: 'embed',
    path: '/v1/embeddings',
    body: {
      input: Array.from({ length: 64 }, (_, index) => `Sentence ${index} of a short list.`),
      encoding_format: 'base64',
    },
    connections: 10,
  },
  {
    name: 'aborts',
    title: 'streams of 100 chunks, 64 open, one in 20 left in its middle',
    model: 'stream-0',
    path: chat,
    body: streamed,
    connections: 64,
    leaveEvery: 20,
  },
]

/** Finds a scenario. Throws where there is none. */
export function scenarioNamed(name: string): Scenario {
  const found = scenarios.find((each) => each.name === name)
  if (!found) throw new Error(`there is no scenario ${name}`)
  return found
}

/** Returns the load of streams that are open for a while, and then cut. */
export function planOfStreams(subject: Subject, connections: number, seconds: number): Plan {
  const request = postOf(chat, subject.headers, {
    model: subject.modelOf('quiet', true),
    ...streamed,
  })
  return { ports: subject.ports, request, connections, seconds, patienceSeconds: 0, leaveEvery: 0 }
}

/** Returns the load of a scenario on one subject. */
export function planOf(subject: Subject, scenario: Scenario, seconds: number): Plan {
  const { path, body, connections, leaveEvery = 0, minSeconds = 0 } = scenario
  const model = subject.modelOf(scenario.model, leaveEvery > 0)
  return {
    ports: subject.ports,
    request: postOf(path, subject.headers, { model, ...body }),
    connections,
    seconds: Math.max(seconds, minSeconds),
    patienceSeconds: 20,
    leaveEvery,
  }
}
