/** Search parameters that select the part of a page, and with it the form: a tab or an open drawer. */
const parts = ['tab', 'open', 'model', 'collection', 'prompt', 'organization'] as const

interface Place {
  pathname: string
  search: object
}

/** Whether a navigation leaves the forms of a page; its filters and its paging do not. */
export const leavesForm = (current: Place, next: Place): boolean =>
  current.pathname !== next.pathname ||
  parts.some((name) => Reflect.get(current.search, name) !== Reflect.get(next.search, name))
