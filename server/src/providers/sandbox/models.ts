import { SandboxRefusal } from './refusal'

const textModels = ['echo', 'lorem', 'tools'] as const
export type TextModel = (typeof textModels)[number]

/** Everything the sandbox serves. */
export const sandboxModels = [
  ...textModels,
  'embedding',
  'moderation',
  'rerank',
  'speech',
  'transcription',
  'image',
] as const
type SandboxModel = (typeof sandboxModels)[number]

function refuse(model: string): never {
  const existingModel = sandboxModels.find((name) => name === model)
  const message = existingModel
    ? `The model ${model} is not served on this path.`
    : `The model ${model} does not exist. There are ${sandboxModels.join(', ')}.`
  throw new SandboxRefusal(message, { status: 404, param: 'model', code: 'model_not_found' })
}

/** `name` as a model that writes. Throws a 404 `Refusal`. */
export const toTextModel = (name: string): TextModel =>
  textModels.find((model) => model === name) ?? refuse(name)

/** Throws a 404 `Refusal` unless `name` is the model of a path that has one. */
export function requireModel(name: string, model: Exclude<SandboxModel, TextModel>): void {
  if (name !== model) refuse(name)
}

/** `GET /models`. */
export const modelList = () => ({
  object: 'list',
  data: sandboxModels.map((id) => ({ id, object: 'model', created: 0, owned_by: 'sandbox' })),
})
