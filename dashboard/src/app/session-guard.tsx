import { useWindowEvent } from '@mantine/hooks'
import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { sessionEnd } from '../api/client'
import { currentSession, sessionQuery } from '../api/session'
import { lazyPart } from '../components/lazy-part'

const SessionDialog = lazyPart(
  async () => (await import('../features/sign-in/session-dialog')).SessionDialog,
)

/** Whether the session of this page has ended; not after a sign-out here, which leaves the page. */
async function hasEnded(queries: QueryClient): Promise<boolean> {
  const isSignedIn = () => Boolean(queries.getQueryData(sessionQuery.queryKey))
  if (!isSignedIn()) return false
  const isGone = await currentSession().then(
    (session) => session === null,
    () => false,
  )
  return isGone && isSignedIn()
}

/** Asks the user to sign in again when the session has ended, over the page, which stays as it is. */
export function SessionGuard() {
  const queries = useQueryClient()
  const [isEnded, setEnded] = useState(false)
  useEffect(() => {
    const check = () => void hasEnded(queries).then((isGone) => isGone && setEnded(true))
    sessionEnd.addEventListener('end', check)
    return () => sessionEnd.removeEventListener('end', check)
  }, [queries])
  // Escape would close a dialog below, with what was typed in it. This listener is there before that dialog's.
  useWindowEvent(
    'keydown',
    (event) => {
      if (isEnded && event.key === 'Escape') event.stopImmediatePropagation()
    },
    { capture: true },
  )
  return isEnded && <SessionDialog onClose={() => setEnded(false)} />
}
