import {
  createContext,
  useContext,
  useId,
  useLayoutEffect,
  useState,
  type Dispatch,
  type ReactNode,
  type SetStateAction,
} from 'react'
import { ApiError } from '../api/client'
import { Failure } from './failure'

interface FailedQuery {
  error: Error
  refetch: () => Promise<unknown>
}

type FailedQueries = ReadonlyMap<string, FailedQuery>

interface Scope {
  /** Whether several queries failed, whose error message is that of the scope. */
  isShared: boolean
  setFailed?: Dispatch<SetStateAction<FailedQueries>>
}

const ScopeContext = createContext<Scope>({ isShared: false })

/** A page or drawer: when several of its queries fail, they have one error message with one retry. */
export function FailureScope({ children }: { children: ReactNode }) {
  const [failed, setFailed] = useState<FailedQueries>(new Map())
  const queries = [...failed.values()]
  const isShared = queries.length > 1
  const retry = () => {
    for (const { refetch } of queries) void refetch()
  }
  return (
    <ScopeContext value={{ isShared, setFailed }}>
      {isShared && <Failure messages={queries.map(({ error }) => error.message)} retry={retry} />}
      {children}
    </ScopeContext>
  )
}

const missing = 404

const capitalized = (noun: string) => noun.charAt(0).toUpperCase() + noun.slice(1)

interface Props extends FailedQuery {
  /** The noun of what the query loads, which the service may not have. */
  what?: string | undefined
  /** Stands here when the error message is that of the page. */
  placeholder?: ReactNode
}

/** The error message of a failed query, here or, when several queries failed, at the top of the page. */
export function QueryFailure({ error, refetch, what, placeholder }: Props) {
  const id = useId()
  const { isShared, setFailed } = useContext(ScopeContext)
  useLayoutEffect(() => {
    setFailed?.((before) => new Map(before).set(id, { error, refetch }))
    return () =>
      setFailed?.((before) => new Map([...before].filter(([failedId]) => failedId !== id)))
  }, [id, error, refetch, setFailed])
  if (isShared) return placeholder
  if (what !== undefined && error instanceof ApiError && error.status === missing) {
    const message = `This ${what} does not exist, was deleted, or is not yours to see.`
    return <Failure title={`${capitalized(what)} not found`} messages={[message]} />
  }
  return <Failure messages={[error.message]} retry={() => void refetch()} />
}
