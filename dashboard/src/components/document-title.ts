import { useEffect } from 'react'
import { useServiceName } from '../api/installation'

/** Parts of the document's title: the item of an open drawer, the page, the service. */
interface TitleParts {
  item?: string | undefined
  page?: string | undefined
  service?: string | undefined
}

const parts: TitleParts = {}

function write() {
  const { item, page, service } = parts
  document.title = [item, page, service].filter((part) => part !== undefined).join(' · ')
}

/** Sets a part of the document's title while the component is mounted. */
function useTitlePart(name: keyof TitleParts, text: string | undefined) {
  useEffect(() => {
    if (text === undefined) return undefined
    parts[name] = text
    write()
    return () => {
      if (parts[name] === text) parts[name] = undefined
    }
  }, [name, text])
}

/** Names the page in the document's title: “gpt-4o-mini · Models · Tollgate”. */
export function usePageTitle(title: string) {
  useTitlePart('service', useServiceName())
  useTitlePart('page', title)
}

/** Puts the name of an open item before that of the page, until it closes. */
export function useItemTitle(title: string | undefined) {
  useTitlePart('item', title)
  useEffect(() => () => write(), [])
}
