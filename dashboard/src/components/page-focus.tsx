import { createContext, useContext, useEffect, useRef, useState, type ReactNode } from 'react'

interface Visits {
  count: number
}

const VisitsContext = createContext<Visits>({ count: 0 })

/** Surrounds the pages: the first one leaves the focus where the browser has it. */
export function PageVisits({ children }: { children: ReactNode }) {
  const [visits] = useState<Visits>(() => ({ count: 0 }))
  return <VisitsContext value={visits}>{children}</VisitsContext>
}

/**
 * Moves the focus to the heading of a page that replaces another, so that the keyboard goes on from there and screen readers
 * announce it. A page that has focused one of its inputs keeps that.
 */
export function useHeadingFocus() {
  const visits = useContext(VisitsContext)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    visits.count += 1
    const content = heading.current?.closest('main')
    if (visits.count === 1 || content?.contains(document.activeElement)) return
    heading.current?.focus({ preventScroll: true })
  }, [visits])
  return heading
}
