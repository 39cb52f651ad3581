import type { Category, Model } from './model'
import type { Provider } from '../providers/provider'

/** The kinds of models of `POST /v1/chat/completions`, where Gemini's models that draw or speak answer too. */
export const chatKinds: readonly Category[] = ['chat']

/** The same in other formats, which have no place for images and sound. */
export const textChatKinds: readonly Category[] = ['chat']

const mediaKinds: ReadonlySet<Category> = new Set(['image', 'speech'])

/** Whether an endpoint for models of these kinds takes a model of a provider. */
export const takesModel = (
  kinds: readonly Category[],
  { category, upstreamModel }: Pick<Model, 'category' | 'upstreamModel'>,
  provider: Pick<Provider, 'dialect'> | undefined,
): boolean =>
  kinds.includes(category) ||
  (kinds === chatKinds &&
    mediaKinds.has(category) &&
    (provider?.dialect === 'google' || provider?.dialect === 'vertex') &&
    /(?:^|\/)gemini-/.test(upstreamModel))
