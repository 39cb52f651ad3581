import type { Model } from '../models/queries'

/** The kinds of models that the playground tries, with their names there. */
export const playgroundKinds = {
  chat: 'Chat',
  image: 'Images',
  speech: 'Speech',
  transcription: 'Transcription',
} as const satisfies Partial<Record<Model['category'], string>>

export type PlaygroundKind = keyof typeof playgroundKinds

export const isPlaygroundKind = (kind: string | undefined): kind is PlaygroundKind =>
  kind !== undefined && Object.hasOwn(playgroundKinds, kind)

/** Returns the address of the playground for a model; chat is what it has without a kind. */
export const toPlaygroundSearch = ({ id, category }: Pick<Model, 'id' | 'category'>) => ({
  model: id,
  ...(category !== 'chat' && { kind: category }),
})
