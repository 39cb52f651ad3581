import { invalidRequest } from '../../errors'

/** The location of a project's models: a region, `us`, `eu` or `global`. */
export interface VertexLocation {
  project: string
  location: string
}

const safe = { project: /^[a-z0-9][a-z0-9.:-]{0,62}$/i, location: /^[a-z][a-z0-9-]{0,40}$/ }

/**
 * The base URL for a service account. Host and path name the same location, or Google refuses.
 * Throws `invalid_request` for a project or location that is none: both become part of a host or path.
 */
export function toVertexBaseUrl({ project, location }: VertexLocation): string {
  for (const [name, value] of Object.entries({ project, location } as const)) {
    const isProject = name === 'project'
    if ((isProject ? safe.project : safe.location).test(value)) continue
    throw invalidRequest(name, 'bad_format', `"${name}" is not one of Google Cloud's.`)
  }
  return `https://${hostOf(location)}/v1/projects/${project}/locations/${location}`
}

/** The base URL for an API key ("express mode"), which belongs to one project by itself. */
export const expressBaseUrl = 'https://aiplatform.googleapis.com/v1'

function hostOf(location: string): string {
  if (location === 'global') return 'aiplatform.googleapis.com'
  if (location === 'us' || location === 'eu') return `aiplatform.${location}.rep.googleapis.com`
  return `${location}-aiplatform.googleapis.com`
}

/**
 * The format of bodies that a model takes: Vertex serves the models of several vendors in their own
 * formats.
 */
export type Surface = 'google' | 'anthropic' | 'openai'

/** The OpenAI-compatible endpoint, for the models of all other vendors, relayed. */
export const openaiChatPath = '/endpoints/openapi/chat/completions'

/** Returns the surface that serves a model, and the model's name there. */
export function getSurface(upstreamModel: string): { surface: Surface; model: string } {
  const [, publisher, model] =
    /^(?:publishers\/)?([^/]+)\/(?:models\/)?([^/]+)$/.exec(upstreamModel) ?? []
  if (publisher === 'google' && model) return { surface: 'google', model }
  if (publisher === 'anthropic' && model) return { surface: 'anthropic', model }
  // `meta/llama-…-maas`: the vendor is part of the name there.
  if (publisher && model) return { surface: 'openai', model: `${publisher}/${model}` }
  const isClaude = upstreamModel.startsWith('claude-')
  return { surface: isClaude ? 'anthropic' : 'google', model: upstreamModel }
}
