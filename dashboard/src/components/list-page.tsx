import { Button, Modal } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Empty } from './empty'
import { Loaded } from './loaded'
import { Page } from './page'

interface Props<Item> {
  title: string
  about: string
  query: UseQueryResult<readonly Item[]>
  /** What stands there while there is none: what would be, and how it comes. */
  empty: { title: string; text: ReactNode }
  /** What the button says, and the form it opens. */
  add: { label: string; form: (close: () => void) => ReactNode; size?: string }
  /** What stands above the list, also while there is none. */
  above?: ReactNode
  children: (items: readonly Item[]) => ReactNode
}

/** A page of things that people make: their list, or what they are good for, and the form for another. */
export function ListPage<Item>({ title, about, query, empty, add, above, children }: Props<Item>) {
  const [isOpen, { open, close }] = useDisclosure()
  const button = <Button onClick={open}>{add.label}</Button>
  return (
    <Page title={title} about={about} actions={query.data && query.data.length > 0 && button}>
      {above}
      <Loaded query={query}>
        {(items) =>
          items.length > 0 ? (
            children(items)
          ) : (
            <Empty title={empty.title} action={button}>
              {empty.text}
            </Empty>
          )
        }
      </Loaded>
      <Modal opened={isOpen} onClose={close} title={add.label} size={add.size ?? 'md'}>
        {add.form(close)}
      </Modal>
    </Page>
  )
}
