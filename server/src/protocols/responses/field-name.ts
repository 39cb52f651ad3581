/** A field of the chat request as its caller knows it; one of the caller's own as it is. */
export function toCallerField(param: string): string {
  const [root = ''] = param.split('.')
  // A place among the messages, or among the tools that are left, is not that in the request.
  if (root !== 'messages' && param.includes('.function')) return root
  switch (root) {
    case 'messages':
      return 'input'
    case 'max_completion_tokens':
    case 'max_tokens':
      return 'max_output_tokens'
    case 'response_format':
      return 'text.format'
    case 'verbosity':
      return 'text.verbosity'
    case 'reasoning_effort':
      return 'reasoning.effort'
    default:
      return param
  }
}
