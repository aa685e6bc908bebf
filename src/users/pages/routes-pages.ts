/**
 * Where the links of mails and of the first start lead. They are for people who have nothing but a browser and the
 * link; everything they do, they do through the interface.
 */
import type { FastifyInstance } from 'fastify'
import { operation } from '../../platform/http/operation.ts'
import type { UsersDeps } from '../deps.ts'
import { invitePage, resetPasswordPage, setupPage, verifyEmailPage } from './account-pages.ts'
import { ACCOUNT_SCRIPT } from './account-script.ts'
import { ACCOUNT_STYLE } from './account-style.ts'
import { usePageHeaders } from './page-headers.ts'

const COMMON = { method: 'GET', surface: 'platform', access: 'public', rateLimit: null } as const

export function pageRoutes(server: FastifyInstance, { settings }: Pick<UsersDeps, 'settings'>): void {
  page(server, '/invite', 'GetInvitePage', 'Accept an invitation by its link', invitePage(settings))
  page(
    server,
    '/reset-password',
    'GetResetPasswordPage',
    'Choose a new password by a link',
    resetPasswordPage(settings),
  )
  page(
    server,
    '/setup',
    'GetSetupPage',
    'Choose the password of the first administrator by a link',
    setupPage(settings),
  )
  page(server, '/verify-email', 'GetVerifyEmailPage', 'Confirm an email address by a link', verifyEmailPage())
  asset(server, '/pages/account.js', 'GetAccountScript', 'text/javascript; charset=utf-8', ACCOUNT_SCRIPT)
  asset(server, '/pages/account.css', 'GetAccountStyle', 'text/css; charset=utf-8', ACCOUNT_STYLE)
}

function page(server: FastifyInstance, url: string, operationId: string, summary: string, text: string): void {
  const contentType = 'text/html; charset=utf-8'
  const bytes = Buffer.from(text)
  operation(server, {
    ...COMMON,
    url,
    operationId,
    summary,
    schema: { response: { 200: { contentType, description: 'The page' } } },
    cacheControl: 'no-store',
    page: true,
    handler(_request, reply) {
      usePageHeaders(reply)
      return reply.type(contentType).send(bytes)
    },
  })
}

function asset(server: FastifyInstance, url: string, operationId: string, contentType: string, text: string): void {
  const bytes = Buffer.from(text)
  operation(server, {
    ...COMMON,
    url,
    operationId,
    summary: 'Read a part of the pages behind links',
    schema: { response: { 200: { contentType, description: 'The file' } } },
    etag: true,
    cacheControl: 'no-cache',
    handler: (_request, reply) => reply.type(contentType).send(bytes),
  })
}
