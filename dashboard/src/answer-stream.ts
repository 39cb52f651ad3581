import { ApiError } from './api'
import type { CallPiece, ToldResult } from './tool-steps'

/** What a model adds to its answer. */
export interface Piece {
  text: string
  reasoning: string
  /** Some of a call of a tool, numbered from the first of the stream. */
  call?: CallPiece | undefined
  /** What a tool gave, before the model goes on. */
  result?: ToldResult | undefined
}

interface Chunk {
  choices?: {
    delta?: {
      content?: string | null
      refusal?: string | null
      reasoning_content?: string | null
      tool_calls?: CallPiece[]
    }
  }[]
  tool_message?: ToldResult
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
    call: delta?.tool_calls?.[0],
    result: chunk.tool_message,
  }
}

/**
 * Reads a streamed answer. Throws `ApiError` for an error within it, and for one that ends before its
 * end was told. Source: contract 4.3.
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
