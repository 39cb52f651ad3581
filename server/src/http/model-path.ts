import { z } from 'zod'
import type { Route } from './route'

/** The id of a model as a parameter of a path. */
export const modelIdParameter = z
  .string()
  .describe('ID of the model; its slash may be sent as it is or as %2F')
  .meta({ examples: ['openai/gpt-4o'] })

/**
 * Serves the paths of `sub` below a model's id too: the router takes the rest of a path with a raw slash for the id,
 * `suffix` included.
 */
export const withSubresource = <Model extends Route>(
  model: Model,
  suffix: string,
  sub: Route,
): Model => ({
  ...model,
  serve: (c, next) => {
    const path = c.req.raw.url.replace(/[?#].*$/s, '').replace(/\/$/, '')
    return path.endsWith(suffix) ? sub.serve(c, next) : model.serve(c, next)
  },
})

/**
 * Returns the model id in a path between `prefix` and `suffix`, decoded once: clients send its slashes raw or as
 * %2F. Undefined where it cannot be decoded. Source: contract 1.4.
 */
export function parseModelId(url: string, prefix: string, suffix = ''): string | undefined {
  const path = url.slice(url.indexOf('/', url.indexOf('//') + 2)).replace(/[?#].*$/s, '')
  const end = path.replace(/\/$/, '').length - suffix.length
  try {
    return decodeURIComponent(path.slice(prefix.length, end))
  } catch {
    return undefined
  }
}
