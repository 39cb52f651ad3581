import type { z } from 'zod'

const list = (values: readonly unknown[]) =>
  values.length === 2 ? values.join(' or ') : `one of ${values.join(', ')}`

const lengthOf = (origin: string) => (origin === 'string' ? ' characters' : '')

/** Explains to an operator what a variable must be: zod's own messages are written for programmers. */
export const formatIssue: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'int' ? 'must be a whole number' : 'must be a number'
    case 'too_small': {
      const bound = issue.inclusive === false ? 'more than' : 'at least'
      return `must be ${bound} ${issue.minimum}${lengthOf(issue.origin)}`
    }
    case 'too_big':
      return `must be at most ${issue.maximum}${lengthOf(issue.origin)}`
    case 'invalid_value':
      return `must be ${list(issue.values)}`
    case 'invalid_format':
      return 'must be an absolute URL with a protocol that docs/operate/configuration.md lists'
    default:
      return undefined
  }
}
