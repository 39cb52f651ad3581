import { useBlocker } from '@tanstack/react-router'
import { useEffect, useId, type ReactNode } from 'react'
import { leavesForm } from '../url/leaves-form'
import { lazyPart } from './lazy-part'

/** Asks before unsaved changes are discarded. */
export const LeaveDialog = lazyPart(async () => (await import('./leave-dialog')).LeaveDialog)

/** The forms with unsaved changes. The first one asks for all of them. */
const unsavedForms = new Set<string>()

/** Whether the page has a form with unsaved changes. */
export const hasUnsavedForms = () => unsavedForms.size > 0

/**
 * Asks before a form with unsaved changes is left: by a link, by the history of the browser, or with the document, where the
 * browser asks itself.
 */
export function UnsavedGuard({ isUnsaved }: { isUnsaved: boolean }): ReactNode {
  const id = useId()
  useEffect(() => {
    if (!isUnsaved) return undefined
    unsavedForms.add(id)
    return () => void unsavedForms.delete(id)
  }, [id, isUnsaved])
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => {
      const [first] = unsavedForms
      return first === id && leavesForm(current, next)
    },
    enableBeforeUnload: isUnsaved,
    disabled: !isUnsaved,
    withResolver: true,
  })
  return status === 'blocked' && <LeaveDialog onLeave={proceed} onClose={reset} />
}
