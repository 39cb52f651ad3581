import { queryOptions } from '@tanstack/react-query'
import type {
  Template as TemplateSchema,
  TemplateList,
} from '../../server/src/automation/template-schema'
import { checkedFetch, json } from './api'

export type Template = ReturnType<(typeof TemplateSchema)['parse']>
type Listed = ReturnType<(typeof TemplateList)['parse']>

const path = '/api/automation/templates'
const one = (id: string) => `${path}/${encodeURIComponent(id)}`

const send = (target: string, method: string, body?: object) =>
  checkedFetch(target, { method, ...(body && json(body).init) })

/** The account's own templates, public ones and system ones. Source: contract 8.3. */
export const templatesQuery = queryOptions({
  queryKey: ['templates'],
  queryFn: async () => {
    const { templates }: Listed = await (await send(path, 'GET')).json()
    return templates
  },
})

export const templates = {
  create: (fields: object) => send(path, 'POST', fields),
  change: (id: string, fields: object) => send(one(id), 'PUT', fields),
  delete: (id: string) => send(one(id), 'DELETE'),
}

const placeholder = /\{\{\s*([A-Za-z_][\w-]*)\s*\}\}/g

/** Returns the names of `{{name}}` variables in texts, each once, in order. */
export const namesIn = (...texts: string[]): string[] => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(placeholder)].map(([, name = '']) => name))),
]
