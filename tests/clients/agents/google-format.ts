import { listOf, objectOf, type TurnRequest, type Turn } from './scenes'
import { sse, type Format } from './format'

function read(body: Record<string, unknown>): TurnRequest {
  const contents = listOf(body['contents'])
  const parts = contents.flatMap((content) => listOf(content['parts']))
  const users = contents.filter((content) => content['role'] !== 'model')
  const declared = listOf(body['tools']).flatMap((tool) => listOf(tool['functionDeclarations']))
  return {
    text: users
      .flatMap((content) => listOf(content['parts']))
      .map((part) => (typeof part['text'] === 'string' ? part['text'] : ''))
      .join('\n'),
    results: parts
      .filter((part) => 'functionResponse' in part)
      .map((part) => JSON.stringify(objectOf(part['functionResponse'])['response'])),
    tools: declared.map(({ name, parameters, parametersJsonSchema }) => ({
      name: String(name),
      parameters: objectOf(parametersJsonSchema ?? parameters),
    })),
    // The path has it.
    isStreamed: body['isStreamed'] === true,
  }
}

function write(turn: Turn, isStreamed: boolean): Response {
  const part =
    'text' in turn
      ? { text: turn.text }
      : { functionCall: { name: turn.tool.name, args: turn.input } }
  const answer = {
    candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 },
    modelVersion: 'fake',
  }
  return isStreamed ? sse([{ data: answer }]) : Response.json(answer)
}

const refusal = (message: string) =>
  Response.json({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }, { status: 400 })

/** The Gemini API. */
export const googleFormat: Format = {
  read,
  write,
  fault(body) {
    const names = read(body).tools.map(({ name }) => name)
    const wrong = names.find((name) => !/^[a-zA-Z_][\w.:-]{0,127}$/.test(name))
    return wrong === undefined ? undefined : refusal(`Invalid function name ${wrong}.`)
  },
  tooLong: () =>
    refusal(
      'The input token count (1250000) exceeds the maximum number of tokens allowed (1048576).',
    ),
}
