import { useSuspenseQuery } from '@tanstack/react-query'
import { Outlet } from '@tanstack/react-router'
import { NotFound } from '../components/not-found'
import { sessionQuery } from '../api/session'

/** The frame of the operator pages; other accounts see a not-found page. */
export function OperatorArea() {
  const { data } = useSuspenseQuery(sessionQuery)
  return data?.user.isOperator === true ? <Outlet /> : <NotFound />
}
