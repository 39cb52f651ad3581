import { ApiError } from '../../api/client'
import type { CallPiece, ToolResult } from './tool-steps'

/** A part of a streamed response. */
export interface Piece {
  text: string
  reasoning: string
  /** A fragment of a tool call; tool calls are numbered from the start of the stream. */
  call?: CallPiece | undefined
  /** The result of a tool, sent before the model continues. */
  result?: ToolResult | undefined
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
  tool_message?: ToolResult
  error?: { code: string; message: string; param?: string | null }
}

/** Splits the buffer into the data of complete events and the incomplete rest. */
function eventsIn(buffer: string): { events: string[]; remainder: string } {
  const blocks = buffer.split('\n\n')
  const remainder = blocks.pop() ?? ''
  const events = blocks
    .flatMap((block) => block.split('\n'))
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length))
  return { events, remainder }
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
 * Reads a streamed response. Throws `ApiError` for an error event, and for a stream that ends before its
 * end event. Source: contract 4.3.
 */
export async function* piecesOf(response: Response): AsyncGenerator<Piece> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let buffer = ''
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    const { events, remainder } = eventsIn(buffer + read.value)
    buffer = remainder
    for (const data of events) {
      if (data === '[DONE]') return
      yield pieceOf(data)
    }
  }
  const message = 'The response was interrupted. The part received is shown above.'
  throw new ApiError(0, { code: 'cut', message, param: null })
}
