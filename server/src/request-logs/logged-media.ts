import type { LogValues } from './log-record'
import type { Usage } from '../wire/usage'

/** Images and sound of an answer. */
export type MadeMedia = Pick<Usage, 'madeImages' | 'spokenCharacters' | 'spokenMs'>

/** Sets the values of what a request made, transcribed or spoke. */
export function setMedia(
  values: Pick<LogValues, 'images' | 'soundMs' | 'speechCharacters' | 'speechMs'>,
  { audioMs }: Pick<Usage, 'audioMs'>,
  { madeImages, spokenCharacters, spokenMs }: MadeMedia,
): void {
  values.images = madeImages ?? null
  values.soundMs = audioMs ?? null
  values.speechCharacters = spokenCharacters ?? null
  values.speechMs = spokenMs ?? null
}
