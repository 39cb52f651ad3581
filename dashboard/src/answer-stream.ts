import { ApiError } from './api'

/** What a model adds to its answer. */
export interface Piece {
  text: string
  reasoning: string
}

interface Chunk {
  choices?: {
    delta?: { content?: string | null; refusal?: string | null; reasoning_content?: string | null }
  }[]
  error?: { code: string; message: string; param?: string | null }
}

/** The data of each event that is whole, and what is left of the next. */
function eventsIn(buffer: string): { events: string[]; rest: string } {
  const blocks = buffer.split('\n\n')
  const rest = blocks.pop() ?? ''
  const events = blocks
    .flatMap((block) => block.split('\n'))
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length))
  return { events, rest }
}

function pieceOf(data: string): Piece {
  const chunk: Chunk = JSON.parse(data)
  if (chunk.error) {
    const { code, message, param = null } = chunk.error
    throw new ApiError(200, { code, message, param })
  }
  const delta = chunk.choices?.[0]?.delta
  return {
    text: `${delta?.content ?? ''}${delta?.refusal ?? ''}`,
    reasoning: delta?.reasoning_content ?? '',
  }
}

/**
 * Reads a streamed answer. Throws `ApiError` for an error within it, and for one that ends before its
 * end was told. Source: api.md 4.3.
 */
export async function* piecesOf(response: Response): AsyncGenerator<Piece> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let buffer = ''
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    const { events, rest } = eventsIn(buffer + read.value)
    buffer = rest
    for (const data of events) {
      if (data === '[DONE]') return
      yield pieceOf(data)
    }
  }
  const message = 'The answer broke off. What came of it is above.'
  throw new ApiError(0, { code: 'cut', message, param: null })
}
