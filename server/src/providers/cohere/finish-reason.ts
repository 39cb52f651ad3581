import type { FinishReason } from '../../wire/finish-reason'

/** Undefined for the words that stand for failure. @see https://docs.cohere.com/v2/reference/chat */
export function toFinishReason(word: string, hasCalls: boolean): FinishReason | undefined {
  switch (word) {
    case 'ERROR':
    case 'TIMEOUT':
      return undefined
    case 'ERROR_TOXIC':
      return 'content_filter'
    case 'MAX_TOKENS':
    case 'ERROR_LIMIT':
      return hasCalls ? 'tool_calls' : 'length'
    default:
      // `COMPLETE`, `STOP_SEQUENCE`, `TOOL_CALL`
      return hasCalls ? 'tool_calls' : 'stop'
  }
}
