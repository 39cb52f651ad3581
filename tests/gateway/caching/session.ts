import { isJson, type Json } from '../../providers/conformance/fixture'

/** A breakpoint: what it stands behind, and its lifetime where that is named. */
export type Breakpoint = string

/** A coding agent's session after so many turns with results of tools, as a client of either format sends it. */
export interface Session {
  messages: (turns: number) => Json
  chat: (turns: number) => Json
  /** The breakpoints that both set. */
  breakpoints: (turns: number) => Breakpoint[]
}

const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const short = { cache_control: { type: 'ephemeral' } }
const schema = { type: 'object', properties: { path: { type: 'string' } } }
const instructions = ['You are an agent.', 'The project is large.']
const tools = ['read', 'write', 'run']

const id = (turn: number) => `toolu_${String(turn).padStart(2, '0')}`
const result = (turn: number) => `result ${turn}`
const path = (turn: number) => ({ path: `file ${turn}` })

/** Like Claude Code: behind tools and instructions for an hour, and behind the last two turns of the user. */
const isMarked = (turn: number, turns: number) => turn > turns - 2
const marked = (turn: number, turns: number) => (isMarked(turn, turns) ? short : {})
const ofLast = (position: number, list: readonly unknown[]) =>
  position === list.length - 1 ? hour : {}

const turnsOf = <Item>(turns: number, toItems: (turn: number) => Item[]): Item[] =>
  Array.from({ length: turns }, (_, at) => at + 1).flatMap(toItems)

export const session: Session = {
  messages: (turns) => ({
    max_tokens: 100,
    tools: tools.map((name, at) => ({ name, input_schema: schema, ...ofLast(at, tools) })),
    system: instructions.map((text, at) => ({ type: 'text', text, ...ofLast(at, instructions) })),
    messages: [
      { role: 'user', content: [{ type: 'text', text: result(0), ...marked(0, turns) }] },
      ...turnsOf(turns, (turn) => [
        {
          role: 'assistant',
          content: [
            { type: 'text', text: `step ${turn}` },
            { type: 'tool_use', id: id(turn), name: 'read', input: path(turn) },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: id(turn),
              content: result(turn),
              ...marked(turn, turns),
            },
          ],
        },
      ]),
    ],
  }),
  chat: (turns) => ({
    max_tokens: 100,
    tools: tools.map((name, at) => ({
      type: 'function',
      function: { name, parameters: schema },
      ...ofLast(at, tools),
    })),
    messages: [
      {
        role: 'system',
        content: instructions.map((text, at) => ({
          type: 'text',
          text,
          ...ofLast(at, instructions),
        })),
      },
      { role: 'user', content: [{ type: 'text', text: result(0), ...marked(0, turns) }] },
      ...turnsOf(turns, (turn) => [
        {
          role: 'assistant',
          content: `step ${turn}`,
          tool_calls: [
            {
              id: id(turn),
              type: 'function',
              function: { name: 'read', arguments: JSON.stringify(path(turn)) },
            },
          ],
        },
        {
          role: 'tool',
          tool_call_id: id(turn),
          content: [{ type: 'text', text: result(turn), ...marked(turn, turns) }],
        },
      ]),
    ],
  }),
  breakpoints: (turns) => [
    'run 1h',
    'The project is large. 1h',
    ...[turns - 1, turns].filter((turn) => turn >= 0).map(result),
  ],
}

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : [])
const jsonOf = (value: unknown): Json => (isJson(value) ? value : {})

const named = (what: unknown, control: unknown): Breakpoint[] =>
  isJson(control) ? [[what, control['ttl']].filter(Boolean).join(' ')] : []

/** The text of a text, of a result, or the arguments of a call. */
function whatIs(block: Json): unknown {
  const { text, content, input } = block
  if (text !== undefined) return text
  if (typeof content === 'string') return content
  return listOf(content).length > 0 ? listOf(content)[0]?.['text'] : jsonOf(input)['path']
}

/** The breakpoints of a request in the Messages format, in the order of the prompt. */
export const inMessages = ({ tools: own, system, messages }: Json): Breakpoint[] => [
  ...listOf(own).flatMap((tool) => named(tool['name'], tool['cache_control'])),
  ...[...listOf(system), ...listOf(messages).flatMap(({ content }) => listOf(content))].flatMap(
    (block) => named(whatIs(block), block['cache_control']),
  ),
]

/** The same of a chat request. */
export const inChat = ({ tools: own, messages }: Json): Breakpoint[] => [
  ...listOf(own).flatMap((tool) => named(jsonOf(tool['function'])['name'], tool['cache_control'])),
  ...listOf(messages)
    .flatMap(({ content }) => listOf(content))
    .flatMap((part) => named(whatIs(part), part['cache_control'])),
]

/** The same of a request of Converse, whose breakpoints are blocks behind what they cover. */
export function inConverse({ toolConfig, system, messages }: Json): Breakpoint[] {
  const blocks = [
    ...listOf(jsonOf(toolConfig)['tools']),
    ...listOf(system),
    ...listOf(messages).flatMap(({ content }) => listOf(content)),
  ]
  return blocks.flatMap((block, at) => {
    const { toolSpec, toolResult, toolUse, text } = blocks[at - 1] ?? {}
    const before =
      jsonOf(toolSpec)['name'] ?? text ?? whatIs(jsonOf(toolResult)) ?? whatIs(jsonOf(toolUse))
    return named(before, block['cachePoint'])
  })
}
