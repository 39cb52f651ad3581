import { isObject } from '../../wire/json-body'
import { readUsage, type Usage } from '../../wire/usage'

/** Reads the usage of a Response: the counts of chat under other names, all inside the totals. */
export function toUsage(block: unknown): Usage | undefined {
  if (!isObject(block)) return undefined
  const counts = {
    prompt_tokens: block['input_tokens'],
    completion_tokens: block['output_tokens'],
    total_tokens: block['total_tokens'],
    prompt_tokens_details: block['input_tokens_details'],
    completion_tokens_details: block['output_tokens_details'],
  }
  return readUsage(counts, 'inside')
}
