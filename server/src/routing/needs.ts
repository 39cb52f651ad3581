import type { Capability, Model } from '../catalog/model'
import { isObject, type JsonObject, toList } from '../wire/json-body'

/** A capability that a request needs of its model, and the field that requires it. */
export interface RequestNeed {
  capability: Capability
  /** Dotted path. */
  param: string
}

const partNeeds: Readonly<Record<string, Capability>> = {
  image_url: 'vision',
  input_audio: 'audio',
  audio_url: 'audio',
}

const formatNeeds: Readonly<Record<string, Capability>> = {
  json_schema: 'json_schema',
  json_object: 'json_mode',
}

/** The needs of a model endpoint's body, each once. Walks its messages: only for collections. */
export function findRequestNeeds(body: JsonObject): RequestNeed[] {
  const needs = new Map<Capability, string>()
  const need = (capability: Capability | undefined, param: string) => {
    if (capability && !needs.has(capability)) needs.set(capability, param)
  }
  for (const field of ['tools', 'functions']) {
    if (toList(body[field]).length > 0) need('tools', field)
  }
  for (const [at, message] of toList(body['messages']).entries()) {
    for (const part of isObject(message) ? toList(message['content']) : []) {
      const type = isObject(part) ? part['type'] : undefined
      if (typeof type === 'string') need(own(partNeeds, type), `messages.${at}.content`)
    }
  }
  if (toList(body['modalities']).includes('audio')) need('audio', 'modalities')
  const format = body['response_format']
  const type = isObject(format) ? format['type'] : undefined
  if (typeof type === 'string') need(own(formatNeeds, type), 'response_format')
  return [...needs].map(([capability, param]) => ({ capability, param }))
}

const own = (table: Readonly<Record<string, Capability>>, name: string) =>
  Object.hasOwn(table, name) ? table[name] : undefined

/** The first need that a model does not meet. */
export const unmet = (needs: readonly RequestNeed[], model: Model): RequestNeed | undefined =>
  needs.find(({ capability }) => !model.capabilities[capability])
