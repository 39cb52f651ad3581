import type { SignedIn } from './signed-in'
import type { Json } from '../harness/http'
import { Agent, event, defaultHello, type Frame } from '../harness/tunnel-agent'

const tool = (name: string, description: string): Json => ({
  name,
  description,
  parameters: { type: 'object', properties: { text: { type: 'string' } } },
})

/** What a machine at home says that it has: a provider `fake`, and two tools. */
export const helloWithTools = {
  ...defaultHello,
  tools: [tool('files_read', 'Reads a file.'), tool('wiki_search', 'Searches the wiki.')],
}

export interface CreatedGateway {
  id: string
  token: string
  connect_url: string
}

/** Makes a provider that only self-hosted gateways serve. */
export const makeProvider = ({ gateway }: Pick<SignedIn, 'gateway'>) =>
  gateway.admin('POST', '/providers', { key: 'fake', name: 'Fake', adapter: 'openai' })

/** Makes a gateway by the account's session. Throws where it was refused. */
export async function makeGateway({ account }: SignedIn, fields: Json): Promise<CreatedGateway> {
  const { status, body } = await account.send('POST /api/gateways', fields)
  if (status !== 201) throw new Error(JSON.stringify(body))
  return {
    id: String(body['id']),
    token: String(body['token']),
    connect_url: String(body['connect_url']),
  }
}

/** The program of a gateway. Resolves once what it serves was taken. */
export function startAgent(
  { connect_url: url, token }: Pick<CreatedGateway, 'connect_url' | 'token'>,
  hello: Json = helloWithTools,
): Promise<Agent> {
  return new Agent(url.replace('localhost', '127.0.0.1'), token, { hello }).ready()
}

interface ToolCall {
  name: string
  arguments: Json
}

const callEvent = ({ name, arguments: args }: ToolCall, index: number) =>
  event({
    tool_calls: [
      {
        index,
        id: `call_${index}`,
        type: 'function',
        function: { name, arguments: JSON.stringify(args) },
      },
    ],
  })

/** How many results of tools a model was given since the last message. */
function resultsIn(request: Frame): number {
  const messages = Object(request['body'])['messages']
  const all: { role: string }[] = Array.isArray(messages) ? messages : []
  return all.length - 1 - all.findLastIndex(({ role }) => role !== 'tool')
}

/** A model that asks for these tools at once, and says `text` once it has all their results. */
export function answerWithTools(agent: Agent, toolCalls: readonly ToolCall[], text: string): void {
  const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
  const end = (finish_reason: string) => [event({}, { finish_reason, usage }), 'data: [DONE]\n\n']
  agent.answer = (request) =>
    agent.stream(
      request,
      toolCalls.length === 0 || resultsIn(request) > 0
        ? [event({ content: text }), ...end('stop')]
        : [...toolCalls.map(callEvent), ...end('tool_calls')],
    )
}
