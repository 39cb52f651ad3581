import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'

export type Template = Schemas['AutomationTemplate']

/** The account's own templates, public ones and system ones. Source: contract 8.3. */
export const templatesQuery = queryOptions({
  queryKey: ['templates'],
  queryFn: async () => (await bodyOf(api.GET('/api/automation/templates'))).templates,
})

const placeholder = /\{\{\s*([A-Za-z_][\w-]*)\s*\}\}/g

/** Returns the names of `{{name}}` variables in texts, each once, in order. */
export const namesIn = (...texts: string[]): string[] => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(placeholder)].map(([, name = '']) => name))),
]
