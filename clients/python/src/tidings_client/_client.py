"""The operations of the API, with blocking calls.

Written by `make client` from contracts/openapi.json: change the generator, or what the service declares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO, Any, Literal, Unpack

from httpx2 import ServerSentEvent

from tidings_client import models
from tidings_client._connection import Connection
from tidings_client._exchange import Call, segment


class Client(Connection):
    """A service with all operations of its API."""

    # Users

    def invitations(
        self, *, fields: models.InvitationField | Sequence[models.InvitationField] | None = None
    ) -> list[models.Invitation]:
        """List the invitations that were not used yet, the newest first.

        fields: Members of the items; the others are left out. Default: all.

        An API key needs the scope admin.
        """
        answer: list[models.Invitation] = self._json(
            Call("GET", "/v1/invitations", query={"fields": fields}, commas=("fields",))
        )
        return answer

    def create_invitation(self, **body: Unpack[models.InvitationCreate]) -> models.NewInvitation:
        """Invite someone to create an account.

        An API key needs the scope admin.
        """
        answer: models.NewInvitation = self._json(Call("POST", "/v1/invitations", body=body))
        return answer

    def delete_invitation(self, invitation_id: int, /) -> None:
        """Withdraw an invitation: its link does not work any more.

        An API key needs the scope admin.
        """
        self._nothing(Call("DELETE", f"/v1/invitations/{invitation_id}"))

    def me(self) -> models.User:
        """Get the calling user."""
        answer: models.User = self._json(Call("GET", "/v1/me"))
        return answer

    def users(self, *, fields: models.UserField | Sequence[models.UserField] | None = None) -> list[models.User]:
        """List all users, by username.

        fields: Members of the items; the others are left out. Default: all.

        An API key needs the scope admin.
        """
        answer: list[models.User] = self._json(Call("GET", "/v1/users", query={"fields": fields}, commas=("fields",)))
        return answer

    def create_user(self, **body: Unpack[models.UserCreate]) -> models.User:
        """Create an account with one category.

        An API key needs the scope admin.
        """
        answer: models.User = self._json(Call("POST", "/v1/users", body=body))
        return answer

    def delete_user(self, user_id: int, /) -> None:
        """Delete an account with all its data.

        Administrators cannot delete their own account.

        An API key needs the scope admin.
        """
        self._nothing(Call("DELETE", f"/v1/users/{user_id}"))

    def user(self, user_id: str | int, /) -> models.User:
        """Get a user by id or username.

        A number is looked up as an id first.

        An API key needs the scope admin.
        """
        answer: models.User = self._json(Call("GET", f"/v1/users/{segment(user_id)}"))
        return answer

    def update_user(self, user_id: int, /, **body: Unpack[models.UserUpdate]) -> models.User:
        """Change an account: administrators any, other users their own.

        Members that are not sent keep their values. API keys need the scope `admin` for other accounts, and for the
        name, the password, the role and linked sign-ins.

        An API key needs the scope manage.
        """
        answer: models.User = self._json(Call("PUT", f"/v1/users/{user_id}", body=body))
        return answer

    def mark_user_read(self, user_id: int, /) -> None:
        """Mark all your entries as read, including those dated in the future.

        An API key needs the scope write.
        """
        self._nothing(Call("PUT", f"/v1/users/{user_id}/mark-all-as-read"))

    # Account log

    def account_events(
        self,
        *,
        kind: str | None = None,
        method: str | None = None,
        address: str | None = None,
        limit: int | None = None,
        before: str | None = None,
        user_id: int | None = None,
        fields: models.AuditEntryField | Sequence[models.AuditEntryField] | None = None,
    ) -> models.Audit:
        """List what happened to all accounts in the last 90 days: sign-ins, refused ones, changes.

        kind: as in the entries. method: as in the entries. address: as in the entries. limit: 1 to 1,000, default
        100. before: `next` of the page before. user_id: of one account only. fields: Members of the items; the
        others are left out. Default: all.

        An API key needs the scope admin.
        """
        answer: models.Audit = self._json(
            Call(
                "GET",
                "/v1/audit",
                query={
                    "kind": kind,
                    "method": method,
                    "address": address,
                    "limit": limit,
                    "before": before,
                    "user_id": user_id,
                    "fields": fields,
                },
                commas=("fields",),
            )
        )
        return answer

    def iter_account_events(
        self,
        *,
        kind: str | None = None,
        method: str | None = None,
        address: str | None = None,
        limit: int | None = None,
        before: str | None = None,
        user_id: int | None = None,
        fields: models.AuditEntryField | Sequence[models.AuditEntryField] | None = None,
    ) -> Iterator[models.AuditEntry]:
        """Yield what `account_events` lists, page after page: `limit` is the size of a page."""
        return self._items(
            Call(
                "GET",
                "/v1/audit",
                query={
                    "kind": kind,
                    "method": method,
                    "address": address,
                    "limit": limit,
                    "before": before,
                    "user_id": user_id,
                    "fields": fields,
                },
                commas=("fields",),
            ),
            "entries",
        )

    def own_events(
        self,
        *,
        kind: str | None = None,
        method: str | None = None,
        address: str | None = None,
        limit: int | None = None,
        before: str | None = None,
        fields: models.AuditEntryField | Sequence[models.AuditEntryField] | None = None,
    ) -> models.Audit:
        """List what happened to your account in the last 90 days: sign-ins, refused ones, changes.

        kind: as in the entries. method: as in the entries. address: as in the entries. limit: 1 to 1,000, default
        100. before: `next` of the page before. fields: Members of the items; the others are left out. Default: all.

        An API key needs the scope manage.
        """
        answer: models.Audit = self._json(
            Call(
                "GET",
                "/v1/me/audit",
                query={
                    "kind": kind,
                    "method": method,
                    "address": address,
                    "limit": limit,
                    "before": before,
                    "fields": fields,
                },
                commas=("fields",),
            )
        )
        return answer

    def iter_own_events(
        self,
        *,
        kind: str | None = None,
        method: str | None = None,
        address: str | None = None,
        limit: int | None = None,
        before: str | None = None,
        fields: models.AuditEntryField | Sequence[models.AuditEntryField] | None = None,
    ) -> Iterator[models.AuditEntry]:
        """Yield what `own_events` lists, page after page: `limit` is the size of a page."""
        return self._items(
            Call(
                "GET",
                "/v1/me/audit",
                query={
                    "kind": kind,
                    "method": method,
                    "address": address,
                    "limit": limit,
                    "before": before,
                    "fields": fields,
                },
                commas=("fields",),
            ),
            "entries",
        )

    def limits(self, user_id: int, /) -> models.AccountLimits:
        """Get the limits of an account and what it has: administrators of any, other users of their own.

        API keys need the scope `admin` for those of another account.
        """
        answer: models.AccountLimits = self._json(Call("GET", f"/v1/users/{user_id}/limits"))
        return answer

    def update_limits(self, user_id: int, /, **body: Unpack[models.AccountLimitsUpdate]) -> models.AccountLimits:
        """Set the limits of an account.

        Nothing that it has is deleted.

        An API key needs the scope admin.
        """
        answer: models.AccountLimits = self._json(Call("PUT", f"/v1/users/{user_id}/limits", body=body))
        return answer

    # API keys

    def api_keys(
        self, *, fields: models.ApiKeyField | Sequence[models.ApiKeyField] | None = None
    ) -> list[models.ApiKey]:
        """List your API keys, by description.

        fields: Members of the items; the others are left out. Default: all.

        An API key needs the scope manage.
        """
        answer: list[models.ApiKey] = self._json(
            Call("GET", "/v1/api-keys", query={"fields": fields}, commas=("fields",))
        )
        return answer

    def create_api_key(self, **body: Unpack[models.ApiKeyCreate]) -> models.ApiKey:
        """Create an API key, with which a client acts as you.

        Its description, in any case, is unique among your keys.

        An API key needs the scope manage.
        """
        answer: models.ApiKey = self._json(Call("POST", "/v1/api-keys", body=body))
        return answer

    def delete_api_key(self, api_key_id: int, /) -> None:
        """Delete an API key; requests with it are refused from now on.

        An API key needs the scope manage.
        """
        self._nothing(Call("DELETE", f"/v1/api-keys/{api_key_id}"))

    # API passwords

    def api_passwords(
        self, *, fields: models.ApiPasswordField | Sequence[models.ApiPasswordField] | None = None
    ) -> list[models.ApiPassword]:
        """List your API passwords, by name.

        The passwords themselves are not shown again.

        fields: Members of the items; the others are left out. Default: all.

        An API key needs the scope manage.
        """
        answer: list[models.ApiPassword] = self._json(
            Call("GET", "/v1/api-passwords", query={"fields": fields}, commas=("fields",))
        )
        return answer

    def create_api_password(self, **body: Unpack[models.ApiPasswordCreate]) -> models.NewApiPassword:
        """Create a password for an app.

        Its name, in any case, is unique among your passwords. API keys that expire may not: an API password lasts
        until it is deleted.

        An API key needs the scope manage.
        """
        answer: models.NewApiPassword = self._json(Call("POST", "/v1/api-passwords", body=body))
        return answer

    def delete_api_password(self, api_password_id: int, /) -> None:
        """Delete an API password; the app that has it is signed out.

        An API key needs the scope manage.
        """
        self._nothing(Call("DELETE", f"/v1/api-passwords/{api_password_id}"))

    # Integrations

    def integrations(self) -> models.Integrations:
        """Get the settings of all integrations, by name.

        Secrets are not shown: `has_token` says whether `token` is set.

        An API key needs the scope manage.
        """
        answer: models.Integrations = self._json(Call("GET", "/v1/integrations"))
        return answer

    def update_integrations(self, **body: Unpack[models.IntegrationsUpdate]) -> models.Integrations:
        """Change settings of integrations.

        Members that are not sent keep their values. An empty text clears a secret. For the secret of the webhook,
        which the server generates, it makes a new one.

        An API key needs the scope manage.
        """
        answer: models.Integrations = self._json(Call("PUT", "/v1/integrations", body=body))
        return answer

    def integrations_status(self) -> models.IntegrationsStatus:
        """Get whether a service to save entries to is switched on."""
        answer: models.IntegrationsStatus = self._json(Call("GET", "/v1/integrations/status"))
        return answer

    def test_integration(self, integration: str | int, /) -> models.IntegrationTested:
        """Send a sample entry to a service, whether it is switched on or not, and return the result.

        An API key needs the scope manage.
        """
        answer: models.IntegrationTested = self._json(Call("POST", f"/v1/integrations/{segment(integration)}/test"))
        return answer

    def deliveries(
        self,
        *,
        state: Literal["pending", "delivered", "failed"] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        before_id: int | None = None,
        webhook_id: int | None = None,
        fields: models.DeliveryField | Sequence[models.DeliveryField] | None = None,
    ) -> models.DeliveryList:
        """List deliveries to other services, sent or waiting, the newest first.

        state: pending, delivered or failed. limit: default 100. before_id: exclusive. webhook_id: only those of
        this webhook. fields: Members of the items; the others are left out. Default: all.

        An API key needs the scope manage.
        """
        answer: models.DeliveryList = self._json(
            Call(
                "GET",
                "/v1/webhooks/deliveries",
                query={
                    "state": state,
                    "limit": limit,
                    "offset": offset,
                    "before_id": before_id,
                    "webhook_id": webhook_id,
                    "fields": fields,
                },
                commas=("fields",),
            )
        )
        return answer

    def iter_deliveries(
        self,
        *,
        state: Literal["pending", "delivered", "failed"] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        before_id: int | None = None,
        webhook_id: int | None = None,
        fields: models.DeliveryField | Sequence[models.DeliveryField] | None = None,
    ) -> Iterator[models.Delivery]:
        """Yield what `deliveries` lists, page after page: `limit` is the size of a page."""
        return self._items(
            Call(
                "GET",
                "/v1/webhooks/deliveries",
                query={
                    "state": state,
                    "limit": limit,
                    "offset": offset,
                    "before_id": before_id,
                    "webhook_id": webhook_id,
                    "fields": fields,
                },
                commas=("fields",),
            ),
            "deliveries",
        )

    def delivery(self, delivery_id: int, /) -> models.DeliveryDetails:
        """Get a delivery, with its body and the beginning of the last response.

        An API key needs the scope manage.
        """
        answer: models.DeliveryDetails = self._json(Call("GET", f"/v1/webhooks/deliveries/{delivery_id}"))
        return answer

    def redeliver(self, delivery_id: int, /) -> models.Delivery:
        """Send a delivery again, with the same delivery id.

        A delivery that is waiting is sent immediately.

        An API key needs the scope manage.
        """
        answer: models.Delivery = self._json(Call("POST", f"/v1/webhooks/deliveries/{delivery_id}/redeliver"))
        return answer

    # Webhooks

    def webhooks(
        self, *, fields: models.WebhookField | Sequence[models.WebhookField] | None = None
    ) -> list[models.Webhook]:
        """List your webhooks.

        That of the integrations, if there is one, is the first.

        fields: Members of the items; the others are left out. Default: all.

        An API key needs the scope manage.
        """
        answer: list[models.Webhook] = self._json(
            Call("GET", "/v1/webhooks", query={"fields": fields}, commas=("fields",))
        )
        return answer

    def create_webhook(self, **body: Unpack[models.WebhookCreate]) -> models.WebhookWithSecret:
        """Create a webhook.

        The response is the only one with its secret.

        An API key needs the scope manage.
        """
        answer: models.WebhookWithSecret = self._json(Call("POST", "/v1/webhooks", body=body))
        return answer

    def delete_webhook(self, webhook_id: int, /) -> None:
        """Delete a webhook.

        What waits for it is not sent any more.

        An API key needs the scope manage.
        """
        self._nothing(Call("DELETE", f"/v1/webhooks/{webhook_id}"))

    def webhook(self, webhook_id: int, /) -> models.WebhookDetails:
        """Get a webhook with its newest deliveries.

        An API key needs the scope manage.
        """
        answer: models.WebhookDetails = self._json(Call("GET", f"/v1/webhooks/{webhook_id}"))
        return answer

    def update_webhook(self, webhook_id: int, /, **body: Unpack[models.WebhookUpdate]) -> models.Webhook:
        """Change a webhook.

        Members that are not sent keep their values.

        An API key needs the scope manage.
        """
        answer: models.Webhook = self._json(Call("PUT", f"/v1/webhooks/{webhook_id}", body=body))
        return answer

    def renew_webhook_secret(self, webhook_id: int, /) -> models.WebhookWithSecret:
        """Give a webhook a new secret, which is used from the next attempt on.

        Only this response shows it.

        An API key needs the scope manage.
        """
        answer: models.WebhookWithSecret = self._json(Call("POST", f"/v1/webhooks/{webhook_id}/secret"))
        return answer

    def send_test_event(
        self, webhook_id: int, /, *, event: models.WebhookEvents | None = None
    ) -> models.IntegrationTested:
        """Send a sample of an event to a webhook, whether it is switched on or not, and return the result.

        event: the event to send a sample of.

        An API key needs the scope manage.
        """
        answer: models.IntegrationTested = self._json(
            Call("POST", f"/v1/webhooks/{webhook_id}/test", query={"event": event})
        )
        return answer

    # Sessions

    def end_sessions(self) -> None:
        """Sign all browsers out.

        API keys and API passwords keep working.

        An API key needs the scope admin.
        """
        self._nothing(Call("DELETE", "/v1/sessions"))

    def sessions(
        self, *, fields: models.SessionField | Sequence[models.SessionField] | None = None
    ) -> list[models.Session]:
        """List the browsers in which you are signed in, the last used first.

        fields: Members of the items; the others are left out. Default: all.

        An API key needs the scope manage.
        """
        answer: list[models.Session] = self._json(
            Call("GET", "/v1/sessions", query={"fields": fields}, commas=("fields",))
        )
        return answer

    def end_session(self, session_id: int, /) -> None:
        """Sign a browser out.

        An API key needs the scope admin.
        """
        self._nothing(Call("DELETE", f"/v1/sessions/{session_id}"))

    # Categories

    def categories(
        self,
        *,
        counts: bool | None = None,
        fields: models.CountedCategoryField | Sequence[models.CountedCategoryField] | None = None,
    ) -> list[models.CountedCategory]:
        """List all categories, by title.

        counts: true adds the number of feeds and of unread entries to each category. fields: Members of the items;
        the others are left out. Default: all.
        """
        answer: list[models.CountedCategory] = self._json(
            Call(
                "GET",
                "/v1/categories",
                query={"counts": counts, "fields": fields},
                commas=("fields",),
                is_conditional=True,
            )
        )
        return answer

    def create_category(self, **body: Unpack[models.CategoryCreate]) -> models.Category:
        """Create a category.

        Its title, in any case, is unique among your categories, or among those under its parent.

        An API key needs the scope manage.
        """
        answer: models.Category = self._json(Call("POST", "/v1/categories", body=body))
        return answer

    def paths_in_names(
        self, *, fields: Literal["id", "title", "path"] | Sequence[Literal["id", "title", "path"]] | None = None
    ) -> list[models.SplitName]:
        """List the categories whose names are paths, such as News / Europe, with the names of a tree.

        fields: Members of the items; the others are left out. Default: all.
        """
        answer: list[models.SplitName] = self._json(
            Call("GET", "/v1/categories/tree", query={"fields": fields}, commas=("fields",))
        )
        return answer

    def make_category_tree(self) -> list[models.SplitName]:
        """Make a tree of the names that are paths, and list them.

        Their titles stay as they are.

        An API key needs the scope manage.
        """
        answer: list[models.SplitName] = self._json(Call("POST", "/v1/categories/tree"))
        return answer

    def delete_category(self, category_id: int, /, *, with_below: bool | None = None) -> None:
        """Delete a category with its feeds and their entries, except feeds that are in another category, too.

        What uses it is kept: `GET` says what that is, and which feeds are deleted. The categories below it move up,
        or are deleted as well.

        with_below: true deletes the categories below it as well, with their feeds.

        An API key needs the scope manage.
        """
        self._nothing(Call("DELETE", f"/v1/categories/{category_id}", query={"with_below": with_below}))

    def category(self, category_id: int, /, *, with_below: bool | None = None) -> models.UsedCategory:
        """Get a category, with what is deleted with it and what uses it. with_below: if those below it are
        deleted, too.

        with_below: true deletes the categories below it as well, with their feeds.
        """
        answer: models.UsedCategory = self._json(
            Call("GET", f"/v1/categories/{category_id}", query={"with_below": with_below})
        )
        return answer

    def update_category(self, category_id: int, /, **body: Unpack[models.CategoryUpdate]) -> models.Category:
        """Rename a category, put it under another one, hide it from the global lists, or keep its duplicates.

        Members that are not sent keep their values. What is below it is hidden with it.

        An API key needs the scope manage.
        """
        answer: models.Category = self._json(Call("PUT", f"/v1/categories/{category_id}", body=body))
        return answer

    def mark_category_read(self, category_id: int, /) -> None:
        """Mark all entries of a category and of those below it as read, except those dated in the future.

        An API key needs the scope write.
        """
        self._nothing(Call("PUT", f"/v1/categories/{category_id}/mark-all-as-read"))

    def refresh_category(self, category_id: int, /) -> None:
        """Schedule a check of all enabled feeds of a category and of those below it.

        An API key needs the scope write.
        """
        self._nothing(Call("PUT", f"/v1/categories/{category_id}/refresh"))

    # Discovery

    def discover(self, **body: Unpack[models.DiscoveryRequest]) -> list[models.Discovered]:
        """Find the feeds of a web page.

        Nothing is stored.

        An API key needs the scope manage.
        """
        answer: list[models.Discovered] = self._json(Call("POST", "/v1/discover", body=body))
        return answer

    # Bridges

    def bridges(self) -> models.Bridges:
        """Get the addresses of your own bridges.

        An API key needs the scope manage.
        """
        answer: models.Bridges = self._json(Call("GET", "/v1/bridges"))
        return answer

    def update_bridges(self, **body: Unpack[models.BridgesUpdate]) -> models.Bridges:
        """Set the addresses of your own bridges, which come before the server's.

        Those that are not sent stay. Feeds that are fetched through a bridge follow.

        An API key needs the scope manage.
        """
        answer: models.Bridges = self._json(Call("PUT", "/v1/bridges", body=body))
        return answer

    # Feeds

    def category_feeds(
        self, category_id: int, /, *, fields: models.FeedField | Sequence[models.FeedField] | None = None
    ) -> list[models.Feed]:
        """List the feeds of a category and of those below it, ordered by enabled, failing and unread entries.

        fields: Members of the items; the others are left out. Default: all.
        """
        answer: list[models.Feed] = self._json(
            Call(
                "GET",
                f"/v1/categories/{category_id}/feeds",
                query={"fields": fields},
                commas=("fields",),
                is_conditional=True,
            )
        )
        return answer

    def feeds(self, *, fields: models.FeedField | Sequence[models.FeedField] | None = None) -> list[models.Feed]:
        """List all feeds, failing ones first, then by title.

        fields: Members of the items; the others are left out. Default: all.
        """
        answer: list[models.Feed] = self._json(
            Call("GET", "/v1/feeds", query={"fields": fields}, commas=("fields",), is_conditional=True)
        )
        return answer

    def create_feed(self, **body: Unpack[models.FeedCreate]) -> models.FeedCreated:
        """Subscribe to a feed.

        It is fetched, and its entries are stored, before the response.

        An API key needs the scope manage.
        """
        answer: models.FeedCreated = self._json(Call("POST", "/v1/feeds", body=body))
        return answer

    def change_feeds(self, **body: Unpack[models.FeedsChange]) -> models.ChangedFeeds:
        """Change many feeds in the same way.

        What is wrong is refused before any feed is changed.

        An API key needs the scope manage.
        """
        answer: models.ChangedFeeds = self._json(Call("POST", "/v1/feeds/bulk", body=body))
        return answer

    def counters(self) -> models.Counters:
        """Get the number of read and unread entries of each feed."""
        answer: models.Counters = self._json(Call("GET", "/v1/feeds/counters", is_conditional=True))
        return answer

    def list_feed_health(
        self,
        *,
        state: models.FeedHealthHealth | None = None,
        category_id: int | None = None,
        search: str | None = None,
        order: models.FeedHealthOrder | None = None,
        limit: int | None = None,
        offset: int | None = None,
        fields: models.FeedHealthField | Sequence[models.FeedHealthField] | None = None,
    ) -> models.FeedHealthList:
        """List the health of feeds.

        state: feeds with this health. category_id: in this category or below it. search: words of title and
        addresses. order: default care, problems first. limit: 1 to 1000, default 100. fields: Members of the items;
        the others are left out. Default: all.
        """
        answer: models.FeedHealthList = self._json(
            Call(
                "GET",
                "/v1/feeds/health",
                query={
                    "state": state,
                    "category_id": category_id,
                    "search": search,
                    "order": order,
                    "limit": limit,
                    "offset": offset,
                    "fields": fields,
                },
                commas=("fields",),
            )
        )
        return answer

    def preview_page(self, **body: Unpack[models.PagePreviewRequest]) -> models.PagePreview:
        """Try selectors on a page that is not a feed, and suggest some.

        Nothing is stored.

        An API key needs the scope manage.
        """
        answer: models.PagePreview = self._json(Call("POST", "/v1/feeds/preview-page", body=body))
        return answer

    def refresh_all(self) -> None:
        """Schedule a check of all enabled feeds.

        An API key needs the scope write.
        """
        self._nothing(Call("PUT", "/v1/feeds/refresh"))

    def delete_feed(self, feed_id: int, /) -> None:
        """Unsubscribe from a feed.

        The feed and its entries are deleted.

        An API key needs the scope manage.
        """
        self._nothing(Call("DELETE", f"/v1/feeds/{feed_id}"))

    def feed(self, feed_id: int, /) -> models.Feed:
        """Get a feed."""
        answer: models.Feed = self._json(Call("GET", f"/v1/feeds/{feed_id}"))
        return answer

    def update_feed(self, feed_id: int, /, **body: Unpack[models.FeedUpdate]) -> models.Feed:
        """Change a feed.

        Members that are not sent keep their values; errors of earlier checks are cleared.

        An API key needs the scope manage.
        """
        answer: models.Feed = self._json(Call("PUT", f"/v1/feeds/{feed_id}", body=body))
        return answer

    def get_feed_health(self, feed_id: int, /) -> models.FeedHealth:
        """Get the health of a feed."""
        answer: models.FeedHealth = self._json(Call("GET", f"/v1/feeds/{feed_id}/health"))
        return answer

    def mark_feed_read(self, feed_id: int, /) -> None:
        """Mark all entries of a feed as read, except those dated in the future.

        An API key needs the scope write.
        """
        self._nothing(Call("PUT", f"/v1/feeds/{feed_id}/mark-all-as-read"))

    def refresh_feed(self, feed_id: int, /) -> None:
        """Check a feed now, regardless of its schedule, and wait for the result.

        An API key needs the scope write.
        """
        self._nothing(Call("PUT", f"/v1/feeds/{feed_id}/refresh"))

    def preview_feed_rules(self, feed_id: int, /, **body: Unpack[models.FeedRules]) -> models.FeedRulesPreview:
        """Tell what rules of a feed would do to its stored entries.

        Nothing is changed or stored.
        """
        answer: models.FeedRulesPreview = self._json(Call("POST", f"/v1/feeds/{feed_id}/rules/preview", body=body))
        return answer

    # Icons

    def feed_icon(self, feed_id: int, /) -> models.Icon:
        """Get the icon of a feed.

        Returns 404 while none is known.
        """
        answer: models.Icon = self._json(Call("GET", f"/v1/feeds/{feed_id}/icon"))
        return answer

    def icon(self, icon_id: int, /) -> models.Icon:
        """Get an icon of one of your feeds."""
        answer: models.Icon = self._json(Call("GET", f"/v1/icons/{icon_id}"))
        return answer

    # Labels

    def labels(
        self,
        *,
        counts: bool | None = None,
        fields: models.CountedLabelField | Sequence[models.CountedLabelField] | None = None,
    ) -> list[models.CountedLabel]:
        """List all labels in their order: yours, then by title.

        counts: true adds the number of entries and of unread entries to each label. fields: Members of the items;
        the others are left out. Default: all.
        """
        answer: list[models.CountedLabel] = self._json(
            Call("GET", "/v1/labels", query={"counts": counts, "fields": fields}, commas=("fields",))
        )
        return answer

    def create_label(self, **body: Unpack[models.LabelCreate]) -> models.Label:
        """Create a label.

        Its title, in any case, is unique among your labels and categories.

        An API key needs the scope write.
        """
        answer: models.Label = self._json(Call("POST", "/v1/labels", body=body))
        return answer

    def delete_label(self, label_id: int, /) -> None:
        """Delete a label.

        Its entries are kept, without it, and so is what uses it.

        An API key needs the scope write.
        """
        self._nothing(Call("DELETE", f"/v1/labels/{label_id}"))

    def label(self, label_id: int, /) -> models.UsedLabel:
        """Get a label, with what uses it."""
        answer: models.UsedLabel = self._json(Call("GET", f"/v1/labels/{label_id}"))
        return answer

    def update_label(self, label_id: int, /, **body: Unpack[models.LabelUpdate]) -> models.Label:
        """Change the title, the color or the position of a label.

        Members that are not sent keep their values.

        An API key needs the scope write.
        """
        answer: models.Label = self._json(Call("PUT", f"/v1/labels/{label_id}", body=body))
        return answer

    # Entries

    def category_entries(self, category_id: int, /, **query: Unpack[models.EntriesQuery]) -> models.EntryList:
        """List entries of all feeds of a category and of those below it."""
        answer: models.EntryList = self._json(
            Call("GET", f"/v1/categories/{category_id}/entries", query=query, commas=("fields",), is_conditional=True)
        )
        return answer

    def iter_category_entries(
        self, category_id: int, /, **query: Unpack[models.EntriesQuery]
    ) -> Iterator[models.Entry]:
        """Yield what `category_entries` lists, page after page: `limit` is the size of a page."""
        return self._items(
            Call("GET", f"/v1/categories/{category_id}/entries", query=query, commas=("fields",), is_conditional=True),
            "entries",
        )

    def category_entry(self, category_id: int, entry_id: int, /) -> models.Entry:
        """Get an entry of a category or of one below it."""
        answer: models.Entry = self._json(Call("GET", f"/v1/categories/{category_id}/entries/{entry_id}"))
        return answer

    def entries(self, **query: Unpack[models.EntriesQuery]) -> models.EntryList:
        """List entries of all feeds."""
        answer: models.EntryList = self._json(
            Call("GET", "/v1/entries", query=query, commas=("fields",), is_conditional=True)
        )
        return answer

    def iter_entries(self, **query: Unpack[models.EntriesQuery]) -> Iterator[models.Entry]:
        """Yield what `entries` lists, page after page: `limit` is the size of a page."""
        return self._items(Call("GET", "/v1/entries", query=query, commas=("fields",), is_conditional=True), "entries")

    def update_entries(self, **body: Unpack[models.EntriesUpdate]) -> None:
        """Set the status or the star of several entries, give or take labels, hide them or show them again.

        Other users' entries are ignored.

        An API key needs the scope write.
        """
        self._nothing(Call("PUT", "/v1/entries", body=body))

    def entry_ids(
        self,
        *,
        status: Literal["unread", "read", "removed"] | Sequence[Literal["unread", "read", "removed"]] | None = None,
        starred: Literal["true", "false"] | Sequence[Literal["true", "false"]] | None = None,
        query: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        label_id: int | Sequence[int] | None = None,
    ) -> models.EntryIds:
        """List ids of entries, newest first, at most 10,000 at a time.

        starred: true or false. query: a query of the query language. limit: default and maximum 10000. label_id: a
        label of yours, or several, all of which an entry must have.
        """
        answer: models.EntryIds = self._json(
            Call(
                "GET",
                "/v1/entries/ids",
                query={
                    "status": status,
                    "starred": starred,
                    "query": query,
                    "limit": limit,
                    "offset": offset,
                    "label_id": label_id,
                },
                is_conditional=True,
            )
        )
        return answer

    def mark_entries_read(
        self, body: models.MarkRead, /, **query: Unpack[models.MarkEntriesReadQuery]
    ) -> models.MarkedRead:
        """Mark the entries of a list as read, or those above or below one of them.

        The parameters are those of the list, with its order; limit, offset and cursor do not matter. Entries dated
        in the future stay unread, except those that search or query has found.

        An API key needs the scope write.
        """
        answer: models.MarkedRead = self._json(Call("PUT", "/v1/entries/mark-as-read", query=query, body=body))
        return answer

    def undo_mark_read(self, **body: Unpack[models.UndoMarkRead]) -> models.MarkedUnread:
        """Mark exactly those entries unread again that one request has marked and that have not changed since.

        An API key needs the scope write.
        """
        answer: models.MarkedUnread = self._json(Call("POST", "/v1/entries/undo-mark-as-read", body=body))
        return answer

    def entry(self, entry_id: int, /) -> models.Entry:
        """Get an entry.

        This does not mark it as read.
        """
        answer: models.Entry = self._json(Call("GET", f"/v1/entries/{entry_id}"))
        return answer

    def update_entry(self, entry_id: int, /, **body: Unpack[models.EntryUpdate]) -> models.Entry:
        """Change the title, the content or the labels of an entry.

        Later changes of the publisher do not overwrite them.

        An API key needs the scope write.
        """
        answer: models.Entry = self._json(Call("PUT", f"/v1/entries/{entry_id}", body=body))
        return answer

    def toggle_star_bookmark(self, entry_id: int, /) -> None:
        """Toggle the star of an entry.

        An API key needs the scope write.
        """
        self._nothing(Call("PUT", f"/v1/entries/{entry_id}/bookmark"))

    def fetch_content(self, entry_id: int, /, *, update_content: bool | None = None) -> models.Article:
        """Fetch the page of an entry and return the article on it, or the stored content if none is found.

        update_content: true stores the article as the content of the entry.

        An API key needs the scope write.
        """
        answer: models.Article = self._json(
            Call("GET", f"/v1/entries/{entry_id}/fetch-content", query={"update_content": update_content})
        )
        return answer

    def save_entry(self, entry_id: int, /) -> None:
        """Queue an entry for all services that you save entries to.

        An API key needs the scope write.
        """
        self._nothing(Call("POST", f"/v1/entries/{entry_id}/save"))

    def toggle_star(self, entry_id: int, /) -> None:
        """Toggle the star of an entry.

        An API key needs the scope write.
        """
        self._nothing(Call("PUT", f"/v1/entries/{entry_id}/star"))

    def switch_content(self, entry_id: int, /) -> None:
        """Show the content of the feed instead of the article that was fetched from its page, or the reverse.

        An API key needs the scope write.
        """
        self._nothing(Call("PUT", f"/v1/entries/{entry_id}/switch-content"))

    def entry_versions(
        self,
        entry_id: int,
        /,
        *,
        fields: Literal["version", "title", "replaced_at"]
        | Sequence[Literal["version", "title", "replaced_at"]]
        | None = None,
    ) -> list[models.EntryVersion]:
        """List the earlier versions of an entry that its publisher changed, the newest first: at most five.

        fields: Members of the items; the others are left out. Default: all.
        """
        answer: list[models.EntryVersion] = self._json(
            Call("GET", f"/v1/entries/{entry_id}/versions", query={"fields": fields}, commas=("fields",))
        )
        return answer

    def entry_version(self, entry_id: int, version: int, /) -> models.ComparedVersion:
        """Get an earlier version of an entry, and the differences by word to the present one."""
        answer: models.ComparedVersion = self._json(Call("GET", f"/v1/entries/{entry_id}/versions/{version}"))
        return answer

    def feed_entries(self, feed_id: int, /, **query: Unpack[models.EntriesQuery]) -> models.EntryList:
        """List entries of a feed."""
        answer: models.EntryList = self._json(
            Call("GET", f"/v1/feeds/{feed_id}/entries", query=query, commas=("fields",), is_conditional=True)
        )
        return answer

    def iter_feed_entries(self, feed_id: int, /, **query: Unpack[models.EntriesQuery]) -> Iterator[models.Entry]:
        """Yield what `feed_entries` lists, page after page: `limit` is the size of a page."""
        return self._items(
            Call("GET", f"/v1/feeds/{feed_id}/entries", query=query, commas=("fields",), is_conditional=True), "entries"
        )

    def import_entry(self, feed_id: int, /, **body: Unpack[models.EntryImport]) -> models.EntryImported:
        """Add an entry to a feed.

        Returns 200 if the feed has the entry: then only its status and star are set.

        An API key needs the scope write.
        """
        answer: models.EntryImported = self._json(Call("POST", f"/v1/feeds/{feed_id}/entries/import", body=body))
        return answer

    def feed_entry(self, feed_id: int, entry_id: int, /) -> models.Entry:
        """Get an entry of a feed."""
        answer: models.Entry = self._json(Call("GET", f"/v1/feeds/{feed_id}/entries/{entry_id}"))
        return answer

    def flush_history(self) -> None:
        """Delete read entries, except starred, shared, labelled and snoozed ones.

        They are not added again.

        An API key needs the scope write.
        """
        self._nothing(Call("DELETE", "/v1/flush-history"))

    def flush_history_put(self) -> None:
        """Delete read entries, except starred, shared, labelled and snoozed ones.

        They are not added again.

        An API key needs the scope write.
        """
        self._nothing(Call("PUT", "/v1/flush-history"))

    def save_page(self, **body: Unpack[models.PageToSave]) -> models.PageSaved:
        """Save the article of a web page that is in no feed, as an unread and starred entry of the feed "Saved
        pages".

        Returns 200 if the page was saved before.

        An API key needs the scope write.
        """
        answer: models.PageSaved = self._json(Call("POST", "/v1/saved-pages", body=body))
        return answer

    # Live events

    def stream_events(self, *, since: str | None = None) -> Iterator[ServerSentEvent]:
        """Get what changes, as it happens: server-sent events.

        The response stays open. `changes` has an object as its data; `ready` says that everything since the id that
        the client sent was sent; after `reset` the client has to get everything again. The id of an event is a
        cursor of /v1/sync. Without an id, events begin with what happens from now on. Yields events until the
        connection ends.

        since: what the client has, next_cursor of /v1/sync or the id of an event.
        """
        return self._events(Call("GET", "/v1/events", query={"since": since}))

    # Sync

    def sync(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        fields: models.SyncedEntryField | Sequence[models.SyncedEntryField] | None = None,
    ) -> models.Synced:
        """Get what has changed since a cursor: everything without one.

        Nothing is missing or repeated, whoever writes at the same time. fields: of entries; their id is always
        there. 410 when what has changed is not known any more, or a backup was restored: begin again without a
        cursor.

        cursor: next_cursor of the last response. limit: the largest number of feeds and entries together, default
        500. fields: Members of the items; the others are left out. Default: all.
        """
        answer: models.Synced = self._json(
            Call("GET", "/v1/sync", query={"cursor": cursor, "limit": limit, "fields": fields}, commas=("fields",))
        )
        return answer

    def iter_sync(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        fields: models.SyncedEntryField | Sequence[models.SyncedEntryField] | None = None,
    ) -> Iterator[models.Synced]:
        """Yield the answers of `sync`, page after page, until nothing more has changed."""
        return self._pages(
            Call("GET", "/v1/sync", query={"cursor": cursor, "limit": limit, "fields": fields}, commas=("fields",))
        )

    # Snoozed entries

    def snoozed_entries(
        self, *, fields: Literal["entry_id", "until"] | Sequence[Literal["entry_id", "until"]] | None = None
    ) -> list[models.SnoozedEntry]:
        """List the snoozed entries, in the order in which they become unread again.

        fields: Members of the items; the others are left out. Default: all.
        """
        answer: list[models.SnoozedEntry] = self._json(
            Call("GET", "/v1/entries/snooze", query={"fields": fields}, commas=("fields",))
        )
        return answer

    def snooze_entries(self, **body: Unpack[models.EntriesSnooze]) -> list[models.SnoozedEntry]:
        """Mark entries as read until a day, when they become unread again.

        Ids of others and removed ones are ignored.

        An API key needs the scope write.
        """
        answer: list[models.SnoozedEntry] = self._json(Call("PUT", "/v1/entries/snooze", body=body))
        return answer

    def end_snooze(self, entry_id: int, /) -> None:
        """Mark a snoozed entry as unread now.

        One that is not snoozed stays as it is.

        An API key needs the scope write.
        """
        self._nothing(Call("DELETE", f"/v1/entries/{entry_id}/snooze"))

    def snooze_entry(self, entry_id: int, /, **body: Unpack[models.SnoozeUpdate]) -> models.SnoozedEntry:
        """Mark an entry as read until a day, when it becomes unread again.

        Marking it unread ends this as well.

        An API key needs the scope write.
        """
        answer: models.SnoozedEntry = self._json(Call("PUT", f"/v1/entries/{entry_id}/snooze", body=body))
        return answer

    # Old unread entries

    def read_after(self) -> models.ReadAfter:
        """Get after how many days old unread entries become read."""
        answer: models.ReadAfter = self._json(Call("GET", "/v1/read-after"))
        return answer

    def update_read_after(self, **body: Unpack[models.ReadAfterUpdate]) -> models.ReadAfter:
        """Set after how many days old unread entries become read.

        Starred entries never do; a worker does it once a day.

        An API key needs the scope manage.
        """
        answer: models.ReadAfter = self._json(Call("PUT", "/v1/read-after", body=body))
        return answer

    # Share links

    def unshare_entry(self, entry_id: int, /) -> None:
        """Revoke the share link of an entry, if it has one.

        Sharing it again makes another link.

        An API key needs the scope write.
        """
        self._nothing(Call("DELETE", f"/v1/entries/{entry_id}/share"))

    def share_entry(self, entry_id: int, /) -> models.ShareLink:
        """Make a link with which anyone can read an entry, or return the one that it has.

        An API key needs the scope write.
        """
        answer: models.ShareLink = self._json(Call("POST", f"/v1/entries/{entry_id}/share"))
        return answer

    def share_links(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        fields: models.ShareLinkField | Sequence[models.ShareLinkField] | None = None,
    ) -> models.ShareLinkList:
        """List your entries that anyone can read, the one that was published last first.

        limit: 1 to 1000, default 100. cursor: the place after which the page begins, from the link to the next
        page. fields: Members of the items; the others are left out. Default: all.
        """
        answer: models.ShareLinkList = self._json(
            Call(
                "GET", "/v1/share-links", query={"limit": limit, "cursor": cursor, "fields": fields}, commas=("fields",)
            )
        )
        return answer

    def iter_share_links(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        fields: models.ShareLinkField | Sequence[models.ShareLinkField] | None = None,
    ) -> Iterator[models.ShareLink]:
        """Yield what `share_links` lists, page after page: `limit` is the size of a page."""
        return self._items(
            Call(
                "GET", "/v1/share-links", query={"limit": limit, "cursor": cursor, "fields": fields}, commas=("fields",)
            ),
            "share_links",
        )

    # List links

    def delete_list_links(self) -> None:
        """Revoke the secret addresses of your lists, if there are any.

        An API key needs the scope manage.
        """
        self._nothing(Call("DELETE", "/v1/list-links"))

    def list_links(self) -> models.ListLinks:
        """Get the secret addresses of your lists.

        Who knows one needs no key.

        An API key needs the scope manage.
        """
        answer: models.ListLinks = self._json(Call("GET", "/v1/list-links"))
        return answer

    def create_list_links(self) -> models.ListLinks:
        """Make secret addresses of your lists.

        Those that you had no longer work.

        An API key needs the scope manage.
        """
        answer: models.ListLinks = self._json(Call("POST", "/v1/list-links"))
        return answer

    # Statistics

    def statistics(self) -> models.Statistics:
        """Get how much your feeds published and how much you have read, by day."""
        answer: models.Statistics = self._json(Call("GET", "/v1/statistics"))
        return answer

    # Queries

    def explain_query(self, **body: Unpack[models.QueryText]) -> models.QueryExplanation:
        """Tell how a query is understood, or where it cannot be read.

        Nothing is searched.
        """
        answer: models.QueryExplanation = self._json(Call("POST", "/v1/query/explain", body=body))
        return answer

    # Views

    def views(self, *, fields: models.ViewField | Sequence[models.ViewField] | None = None) -> list[models.View]:
        """List your saved views, in the order of the sidebar.

        fields: Members of the items; the others are left out. Default: all.
        """
        answer: list[models.View] = self._json(Call("GET", "/v1/views", query={"fields": fields}, commas=("fields",)))
        return answer

    def create_view(self, **body: Unpack[models.ViewCreate]) -> models.View:
        """Save a query under a name.

        The name, in any case, is unique among your views.

        An API key needs the scope manage.
        """
        answer: models.View = self._json(Call("POST", "/v1/views", body=body))
        return answer

    def view_counters(self) -> models.ViewCounters:
        """Get the numbers of unread entries of all views."""
        answer: models.ViewCounters = self._json(Call("GET", "/v1/views/counters"))
        return answer

    def delete_view(self, view_id: int, /) -> None:
        """Delete a saved view.

        Its entries stay. A view that other queries refer to is not deleted.

        An API key needs the scope manage.
        """
        self._nothing(Call("DELETE", f"/v1/views/{view_id}"))

    def view(self, view_id: int, /) -> models.View:
        """Get a saved view."""
        answer: models.View = self._json(Call("GET", f"/v1/views/{view_id}"))
        return answer

    def update_view(self, view_id: int, /, **body: Unpack[models.ViewUpdate]) -> models.View:
        """Change a saved view.

        Members that are not sent keep their values.

        An API key needs the scope manage.
        """
        answer: models.View = self._json(Call("PUT", f"/v1/views/{view_id}", body=body))
        return answer

    def view_entries(self, view_id: int, /, **query: Unpack[models.EntriesQuery]) -> models.EntryList:
        """List the entries of a view, in its order unless the request asks for another."""
        answer: models.EntryList = self._json(
            Call("GET", f"/v1/views/{view_id}/entries", query=query, commas=("fields",), is_conditional=True)
        )
        return answer

    def iter_view_entries(self, view_id: int, /, **query: Unpack[models.EntriesQuery]) -> Iterator[models.Entry]:
        """Yield what `view_entries` lists, page after page: `limit` is the size of a page."""
        return self._items(
            Call("GET", f"/v1/views/{view_id}/entries", query=query, commas=("fields",), is_conditional=True), "entries"
        )

    def view_entry_ids(
        self,
        view_id: int,
        /,
        *,
        status: Literal["unread", "read", "removed"] | Sequence[Literal["unread", "read", "removed"]] | None = None,
        starred: Literal["true", "false"] | Sequence[Literal["true", "false"]] | None = None,
        query: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        label_id: int | Sequence[int] | None = None,
    ) -> models.EntryIds:
        """List ids of the entries of a view, newest first, at most 10,000 at a time.

        starred: true or false. query: a query of the query language. limit: default and maximum 10000. label_id: a
        label of yours, or several, all of which an entry must have.
        """
        answer: models.EntryIds = self._json(
            Call(
                "GET",
                f"/v1/views/{view_id}/ids",
                query={
                    "status": status,
                    "starred": starred,
                    "query": query,
                    "limit": limit,
                    "offset": offset,
                    "label_id": label_id,
                },
                is_conditional=True,
            )
        )
        return answer

    def mark_view_read(self, view_id: int, /, *, before: int | None = None) -> None:
        """Mark the entries of a view as read, up to a moment.

        before: Unix seconds.

        An API key needs the scope write.
        """
        self._nothing(Call("PUT", f"/v1/views/{view_id}/mark-all-as-read", query={"before": before}))

    def mark_view_entries_read(
        self, view_id: int, body: models.MarkRead, /, **query: Unpack[models.MarkEntriesReadQuery]
    ) -> models.MarkedRead:
        """Mark the entries of a view as read, or those above or below one of them, in its order.

        The parameters are those of the list of its entries.

        An API key needs the scope write.
        """
        answer: models.MarkedRead = self._json(Call("PUT", f"/v1/views/{view_id}/mark-as-read", query=query, body=body))
        return answer

    # List settings

    def list_settings(
        self,
        *,
        fields: Literal["list", "direction", "density"]
        | Sequence[Literal["list", "direction", "density"]]
        | None = None,
    ) -> list[models.ListSetting]:
        """List the order and the layout of lists that do not have those of all others.

        Saved views have their own.

        fields: Members of the items; the others are left out. Default: all.
        """
        answer: list[models.ListSetting] = self._json(
            Call("GET", "/v1/list-settings", query={"fields": fields}, commas=("fields",))
        )
        return answer

    def update_list_setting(self, **body: Unpack[models.ListSettingUpdate]) -> models.ListSetting:
        """Set in which order, and in which layout, pages show a list.

        An API key needs the scope manage.
        """
        answer: models.ListSetting = self._json(Call("PUT", "/v1/list-settings", body=body))
        return answer

    # Enclosures

    def enclosure(self, enclosure_id: int, /) -> models.Enclosure:
        """Get an enclosure."""
        answer: models.Enclosure = self._json(Call("GET", f"/v1/enclosures/{enclosure_id}"))
        return answer

    def update_enclosure(self, enclosure_id: int, /, **body: Unpack[models.EnclosureUpdate]) -> None:
        """Store the playback position of an enclosure.

        An API key needs the scope write.
        """
        self._nothing(Call("PUT", f"/v1/enclosures/{enclosure_id}", body=body))

    def chapters(self, enclosure_id: int, /) -> models.ChapterList:
        """Fetch a file of chapters, an enclosure of an episode.

        400 if it has none.
        """
        answer: models.ChapterList = self._json(Call("GET", f"/v1/enclosures/{enclosure_id}/chapters"))
        return answer

    def transcript(self, enclosure_id: int, /) -> models.Transcript:
        """Fetch a transcript, an enclosure of an episode.

        400 if it has no text.
        """
        answer: models.Transcript = self._json(Call("GET", f"/v1/enclosures/{enclosure_id}/transcript"))
        return answer

    # Queue

    def queue(
        self, *, fields: models.QueuedEnclosureField | Sequence[models.QueuedEnclosureField] | None = None
    ) -> list[models.QueuedEnclosure]:
        """List the episodes that wait to be played, the next one first.

        fields: Members of the items; the others are left out. Default: all.
        """
        answer: list[models.QueuedEnclosure] = self._json(
            Call("GET", "/v1/queue", query={"fields": fields}, commas=("fields",))
        )
        return answer

    def add_to_queue(self, **body: Unpack[models.QueueAddition]) -> None:
        """Put an enclosure that is audio or video into the queue, which has room for 500.

        An API key needs the scope write.
        """
        self._nothing(Call("POST", "/v1/queue", body=body))

    def remove_from_queue(self, enclosure_id: int, /) -> None:
        """Take an enclosure out of the queue, if it is in it.

        An API key needs the scope write.
        """
        self._nothing(Call("DELETE", f"/v1/queue/{enclosure_id}"))

    def move_in_queue(self, enclosure_id: int, /, **body: Unpack[models.QueuePlace]) -> None:
        """Move an enclosure to another place in the queue.

        An API key needs the scope write.
        """
        self._nothing(Call("PUT", f"/v1/queue/{enclosure_id}", body=body))

    # Rules

    def rules(self, *, fields: models.RuleField | Sequence[models.RuleField] | None = None) -> list[models.Rule]:
        """List the rules in the order in which they are tried.

        fields: Members of the items; the others are left out. Default: all.
        """
        answer: list[models.Rule] = self._json(Call("GET", "/v1/rules", query={"fields": fields}, commas=("fields",)))
        return answer

    def create_rule(self, **body: Unpack[models.RuleUpdate]) -> models.Rule:
        """Add a rule behind the others.

        It decides about entries that arrive from now on.

        An API key needs the scope manage.
        """
        answer: models.Rule = self._json(Call("POST", "/v1/rules", body=body))
        return answer

    def order_rules(self, **body: Unpack[models.RuleOrder]) -> None:
        """Set the order in which rules are tried.

        An API key needs the scope manage.
        """
        self._nothing(Call("PUT", "/v1/rules/order", body=body))

    def preview_rule(self, **body: Unpack[models.RuleUpdate]) -> models.RulePreview:
        """Tell what a rule would do to the stored entries.

        Nothing is changed or stored.
        """
        answer: models.RulePreview = self._json(Call("POST", "/v1/rules/preview", body=body))
        return answer

    def delete_rule(self, rule_id: int, /) -> None:
        """Delete a rule.

        What it did to entries stays.

        An API key needs the scope manage.
        """
        self._nothing(Call("DELETE", f"/v1/rules/{rule_id}"))

    def rule(self, rule_id: int, /) -> models.Rule:
        """Get a rule, with how often it matched."""
        answer: models.Rule = self._json(Call("GET", f"/v1/rules/{rule_id}"))
        return answer

    def update_rule(self, rule_id: int, /, **body: Unpack[models.RuleUpdate]) -> models.Rule:
        """Change a rule.

        Members that are not sent keep their values.

        An API key needs the scope manage.
        """
        answer: models.Rule = self._json(Call("PUT", f"/v1/rules/{rule_id}", body=body))
        return answer

    def rule_run(self, rule_id: int, /) -> models.RuleRun:
        """Get how far applying a rule is, or what became of it the last time.

        404 if it was never applied.
        """
        answer: models.RuleRun = self._json(Call("GET", f"/v1/rules/{rule_id}/apply"))
        return answer

    def apply_rule(self, rule_id: int, /) -> models.RuleRun:
        """Apply a rule to the stored entries, in the background, even if it is not enabled.

        Entries that are starred, shared or labelled are not dropped. Nothing is sent to other services.

        An API key needs the scope manage.
        """
        answer: models.RuleRun = self._json(Call("POST", f"/v1/rules/{rule_id}/apply"))
        return answer

    def undo_rule(self, rule_id: int, /) -> models.RuleRun:
        """Undo the last time that a rule was applied, in the background, within a day.

        If that still goes on, it stops. Entries become what they were. Those that you have changed since keep their
        status and star.

        An API key needs the scope manage.
        """
        answer: models.RuleRun = self._json(Call("POST", f"/v1/rules/{rule_id}/undo"))
        return answer

    # OPML

    def export_feeds(self) -> str:
        """Export all feeds as an OPML document, in the tree of categories, with settings that differ from a new
        feed's.
        """
        return self._text(Call("GET", "/v1/export", is_conditional=True))

    def import_feeds(self, file: bytes | IO[bytes], /) -> models.Imported:
        """Subscribe to the feeds of an OPML document, or of a plain list of addresses.

        It is the body itself, or the field `file` of a form. A list has one address on each line; blank lines and
        what follows a # at the beginning of a line or after a blank are skipped. Its feeds go to the user's first
        category. All usable feeds are added, or none if the request fails. No feed is fetched before the response.
        file: it is sent as it is; one that is open is read from where it stands.

        An API key needs the scope manage.
        """
        answer: models.Imported = self._json(Call("POST", "/v1/import", file=file, file_type="application/xml"))
        return answer

    # Archives

    def export_account(self, file: IO[bytes], /) -> None:
        """Export the whole account as an archive: settings, feeds with rules, entries with state and content.

        The ZIP file is sent while it is made. It has no passwords of feeds and no secrets of integrations. file:
        what is received is written to it.

        An API key needs the scope manage.
        """
        self._download(Call("GET", "/v1/export/archive"), file)

    def get_import(self) -> models.Import:
        """Get the state of the last import, and its report when it has ended."""
        answer: models.Import = self._json(Call("GET", "/v1/import/archive"))
        return answer

    def import_account(
        self,
        file: bytes | IO[bytes],
        /,
        *,
        source: models.ImportSource | None = None,
        apply: str | Sequence[str] | None = None,
    ) -> models.Import:
        """Import an archive, or a file of another reader: the body itself, or the field `file` of a form.

        The import runs in the background, one of a user at a time. A file may come from anybody: without `apply`,
        scripts, styles and filters of the account are left out, integrations are stored switched off, and the
        report says so. file: it is sent as it is; one that is open is read from where it stands.

        source: what wrote the file. apply: what is applied besides feeds and entries (`settings`, `rules`,
        `scripts`, `integrations`), or `all` or `none`.

        An API key needs the scope manage.
        """
        answer: models.Import = self._json(
            Call(
                "POST",
                "/v1/import/archive",
                query={"source": source, "apply": apply},
                file=file,
                file_type="application/octet-stream",
            )
        )
        return answer

    def import_from_miniflux(self, **body: Unpack[models.MinifluxImport]) -> models.Import:
        """Import the account of a running Miniflux, or of another Tidings, in the background.

        An API key needs the scope manage.
        """
        answer: models.Import = self._json(Call("POST", "/v1/import/miniflux", body=body))
        return answer

    def import_from_ttrss(self, **body: Unpack[models.TtrssImport]) -> models.Import:
        """Import an account of a running Tiny Tiny RSS in the background.

        API access has to be enabled there.

        An API key needs the scope manage.
        """
        answer: models.Import = self._json(Call("POST", "/v1/import/tiny-tiny-rss", body=body))
        return answer

    # Live OPML

    def opml_subscriptions(
        self, *, fields: models.OpmlSubscriptionField | Sequence[models.OpmlSubscriptionField] | None = None
    ) -> list[models.OpmlSubscription]:
        """List the OPML documents that you follow, the oldest first.

        fields: Members of the items; the others are left out. Default: all.
        """
        answer: list[models.OpmlSubscription] = self._json(
            Call("GET", "/v1/opml-subscriptions", query={"fields": fields}, commas=("fields",))
        )
        return answer

    def create_opml_subscription(self, **body: Unpack[models.OpmlSubscriptionCreate]) -> models.OpmlSubscription:
        """Follow an OPML document: its feeds are added to a new category, and follow the document from then on.

        New feeds of the document are added every few hours; feeds that it drops wait for your decision.

        An API key needs the scope manage.
        """
        answer: models.OpmlSubscription = self._json(Call("POST", "/v1/opml-subscriptions", body=body))
        return answer

    def delete_opml_subscription(self, subscription_id: int, /) -> None:
        """Stop following an OPML document.

        Its category and its feeds stay.

        An API key needs the scope manage.
        """
        self._nothing(Call("DELETE", f"/v1/opml-subscriptions/{subscription_id}"))

    def opml_subscription(self, subscription_id: int, /) -> models.OpmlSubscription:
        """Get an OPML document that you follow."""
        answer: models.OpmlSubscription = self._json(Call("GET", f"/v1/opml-subscriptions/{subscription_id}"))
        return answer

    def refresh_opml_subscription(self, subscription_id: int, /) -> None:
        """Check an OPML document as soon as a worker can.

        Returns immediately.

        An API key needs the scope write.
        """
        self._nothing(Call("PUT", f"/v1/opml-subscriptions/{subscription_id}/refresh"))

    def decide_removals(
        self, subscription_id: int, /, **body: Unpack[models.RemovalsDecided]
    ) -> models.OpmlSubscription:
        """Remove or keep feeds that the document has dropped.

        Feeds that you keep are ordinary feeds from then on.

        An API key needs the scope manage.
        """
        answer: models.OpmlSubscription = self._json(
            Call("POST", f"/v1/opml-subscriptions/{subscription_id}/removals", body=body)
        )
        return answer

    # Newsletters

    def newsletters(
        self, *, fields: models.NewsletterField | Sequence[models.NewsletterField] | None = None
    ) -> list[models.Newsletter]:
        """List your secret addresses for newsletters.

        fields: Members of the items; the others are left out. Default: all.

        An API key needs the scope manage.
        """
        answer: list[models.Newsletter] = self._json(
            Call("GET", "/v1/newsletters", query={"fields": fields}, commas=("fields",))
        )
        return answer

    def create_newsletter(self, **body: Unpack[models.NewsletterCreate]) -> models.Newsletter:
        """Make a secret address at which newsletters arrive and become feeds.

        An API key needs the scope manage.
        """
        answer: models.Newsletter = self._json(Call("POST", "/v1/newsletters", body=body))
        return answer

    def delete_newsletter_mailbox(self) -> None:
        """Stop reading your mailbox, and forget its password.

        Letters stay, here and there.

        An API key needs the scope manage.
        """
        self._nothing(Call("DELETE", "/v1/newsletters/mailbox"))

    def newsletter_mailbox(self) -> models.NewsletterMailbox:
        """Return the mailbox that is read for your letters, without its password.

        An API key needs the scope manage.
        """
        answer: models.NewsletterMailbox = self._json(Call("GET", "/v1/newsletters/mailbox"))
        return answer

    def set_newsletter_mailbox(self, **body: Unpack[models.NewsletterMailboxUpdate]) -> models.NewsletterMailbox:
        """Set the mailbox whose letters become entries of your feeds.

        It is read within seconds, and every few minutes.

        An API key needs the scope manage.
        """
        answer: models.NewsletterMailbox = self._json(Call("PUT", "/v1/newsletters/mailbox", body=body))
        return answer

    def newsletter_senders(
        self, *, fields: models.NewsletterSenderField | Sequence[models.NewsletterSenderField] | None = None
    ) -> list[models.NewsletterSender]:
        """List the senders of newsletters that have arrived, by name.

        fields: Members of the items; the others are left out. Default: all.

        An API key needs the scope manage.
        """
        answer: list[models.NewsletterSender] = self._json(
            Call("GET", "/v1/newsletters/senders", query={"fields": fields}, commas=("fields",))
        )
        return answer

    def update_newsletter_sender(
        self, sender_id: int, /, **body: Unpack[models.NewsletterSenderUpdate]
    ) -> models.NewsletterSender:
        """Rename a sender, block it, or send its letters to the feed of another one.

        An API key needs the scope manage.
        """
        answer: models.NewsletterSender = self._json(Call("PUT", f"/v1/newsletters/senders/{sender_id}", body=body))
        return answer

    def unsubscribe_from_newsletter(self, sender_id: int, /) -> models.NewsletterSender:
        """Ask a sender for no more letters, by the one-click request of RFC 8058.

        An API key needs the scope manage.
        """
        answer: models.NewsletterSender = self._json(Call("POST", f"/v1/newsletters/senders/{sender_id}/unsubscribe"))
        return answer

    def delete_newsletter(self, newsletter_id: int, /) -> None:
        """Delete a secret address: nothing more arrives there.

        Its feeds stay.

        An API key needs the scope manage.
        """
        self._nothing(Call("DELETE", f"/v1/newsletters/{newsletter_id}"))

    # Version

    def openapi(self) -> dict[str, Any]:
        """Get this document."""
        answer: dict[str, Any] = self._json(Call("GET", "/v1/openapi.json", is_repeatable=False))
        return answer

    def version(self) -> models.Version:
        """Get the version of the service and its API."""
        answer: models.Version = self._json(Call("GET", "/v1/version"))
        return answer

    # Instance

    def instance(self) -> models.Instance:
        """Get the state of the service: what it has, and how long its queues of checks and deliveries are.

        An API key needs the scope admin.
        """
        answer: models.Instance = self._json(Call("GET", "/v1/instance"))
        return answer

    # Health

    def is_ready(self) -> str:
        """OK while the database answers within two seconds, takes writes, and has the schema of this version.

        On a database that is distributed over several servers, it also names those that do not answer: their users
        get 503.
        """
        return self._text(Call("GET", "/healthcheck", is_repeatable=False))

    def is_alive(self) -> str:
        """OK while the process runs."""
        return self._text(Call("GET", "/healthz", is_repeatable=False))

    def is_alive_liveness(self) -> str:
        """OK while the process runs."""
        return self._text(Call("GET", "/liveness", is_repeatable=False))

    def is_ready_readiness(self) -> str:
        """OK while the database answers within two seconds, takes writes, and has the schema of this version.

        On a database that is distributed over several servers, it also names those that do not answer: their users
        get 503.
        """
        return self._text(Call("GET", "/readiness", is_repeatable=False))

    def is_ready_readyz(self) -> str:
        """OK while the database answers within two seconds, takes writes, and has the schema of this version.

        On a database that is distributed over several servers, it also names those that do not answer: their users
        get 503.
        """
        return self._text(Call("GET", "/readyz", is_repeatable=False))
