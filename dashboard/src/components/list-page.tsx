import { Button, Modal } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { allRows } from '../api/paging'
import { Page } from './page'
import { ResourceList } from './resource-list'

interface Props<Item> {
  title: string
  about: string
  query: UseQueryResult<readonly Item[]>
  /** The empty state. */
  empty: { title: string; text: ReactNode }
  /** The button label and the form it opens; undefined for a reader who may create none. */
  add: { label: string; form: (close: () => void) => ReactNode; size?: string } | undefined
  /** Content above the list, also when the list is empty. */
  above?: ReactNode
  /** Content below the list. */
  below?: ReactNode
  children: (items: readonly Item[]) => ReactNode
}

/** A page that lists one kind of resource, with its empty state and the form to create one. */
export function ListPage<Item>({ title, about, query, empty, add, ...props }: Props<Item>) {
  const [isOpen, { open, close }] = useDisclosure()
  const button = add && <Button onClick={open}>{add.label}</Button>
  return (
    <Page title={title} about={about} actions={query.data && query.data.length > 0 && button}>
      {props.above}
      <ResourceList
        query={query}
        rows={allRows}
        plural={title.toLowerCase()}
        empty={{ ...empty, action: button }}
      >
        {props.children}
      </ResourceList>
      {props.below}
      {add && (
        <Modal opened={isOpen} onClose={close} title={add.label} size={add.size ?? 'md'}>
          {add.form(close)}
        </Modal>
      )}
    </Page>
  )
}
